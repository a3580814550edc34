import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const folder = 'deploy/systemd';
const page = readFileSync('docs/running.md', 'utf8');
const units = readdirSync(folder).filter(name => /\.(service|timer)$/.test(name));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const valuesOf = (name: string, key: string) =>
  [...read(name).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);
/** Those that write a mirror or its backups. */
const workers = units.filter(name => /^docmirror(-backup)?@?\.service$/.test(name));

test('the units that write metrics can write each folder that the page names for them', () => {
  const folders = [...page.matchAll(/^DOCMIRROR_METRICS_FILE=(\/\S+)$/gm)].map(([, path = '']) =>
    dirname(path),
  );
  expect(folders.length).toBeGreaterThan(0);
  expect(workers).toHaveLength(4);
  for (const name of workers)
    for (const each of folders) expect(valuesOf(name, 'ReadWritePaths'), name).toContain(`-${each}`);
});

test('a unit that fails, also before docmirror begins, tells a monitor', () => {
  for (const name of workers)
    expect(valuesOf(name, 'OnFailure'), name).toEqual(['docmirror-failed@%n.service']);
  expect(units).toContain('docmirror-failed@.service');
});

test('no timer is at a time that a night can leave out or repeat', () => {
  for (const name of units.filter(each => each.endsWith('.timer')))
    for (const time of valuesOf(name, 'OnCalendar'))
      if (time !== 'hourly')
        expect(/ (\d\d):\d\d:\d\d$/.exec(time)?.[1], `${name} ${time}`).toMatch(/^(0[4-9]|1\d|2[0-3])$/);
  for (const [, hour] of readFileSync('deploy/crontab', 'utf8').matchAll(/^\d+ (\d+) \* \* \* docmirror/gm))
    expect(Number(hour)).toBeGreaterThanOrEqual(4);
});

test('the example of a tenant under systemd has the paths of its unit, and needs no file beside it', () => {
  const [, example = ''] = /With systemd[\s\S]{0,600}?```ini\n([\s\S]*?)```/.exec(page) ?? [];
  const [exec = ''] = valuesOf('docmirror@.service', 'ExecStart');
  const database = /--database (\S+)/.exec(exec)?.[1]?.replaceAll('%i', 'acme');
  expect(example).toContain(`DOCMIRROR_DATABASE=${database}\n`);
  expect(example).toMatch(/^DOCMIRROR_TOKEN=/m);
  for (const [, path] of example.matchAll(/_(?:FILE|DATABASE)=(.*)$/gm)) expect(path).toMatch(/^\//);
});

test('the manifests leave the zone to TZ', () => {
  for (const file of ['deploy/compose.yaml', 'deploy/kubernetes/mirror.yaml', 'deploy/kubernetes/watch.yaml'])
    expect(readFileSync(file, 'utf8')).not.toContain('DOCMIRROR_TIMEZONE');
});
