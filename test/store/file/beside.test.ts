import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { casesOf } from '../../support/cases.ts';
import { syncScene } from '../../support/in-process.ts';
import { runProcess, temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

// What docmirror left beside a mirror or a backup can be anything by now.

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 3, collections: 2, webhooks: 1 });
  await syncScene(scene);
});
afterAll(() => scene[Symbol.asyncDispose]());

const note = { nextRunAt: '2099-01-01T00:00:00.000Z', schedule: '0 * * * *', timezone: 'UTC' };

/** What can be at a path in the place of a JSON text. */
const odd: readonly [what: string, put: (path: string, sound: object) => void][] = [
  ['no JSON', path => writeFileSync(path, '{')],
  ['an empty file', path => writeFileSync(path, '')],
  ['null', path => writeFileSync(path, 'null')],
  ['a list', path => writeFileSync(path, '[1]')],
  ['numbers', (path, sound) => writeFileSync(path, JSON.stringify(mapped(sound, () => 5)))],
  ['objects', (path, sound) => writeFileSync(path, JSON.stringify(mapped(sound, () => ({}))))],
  [
    'nothing but a time',
    (path, sound) =>
      writeFileSync(path, JSON.stringify(mapped(sound, at => (/:\d\d/.test(`${at}`) ? at : undefined)))),
  ],
  ['a folder', path => mkdirSync(path)],
  ['a pipe that nobody writes to', path => execFileSync('mkfifo', [path])],
  [
    'a file of 5 MB',
    (path, sound) => {
      writeFileSync(path, JSON.stringify(sound));
      appendFileSync(path, ' '.repeat(5 * 1024 * 1024));
    },
  ],
];

function mapped(sound: object, to: (value: unknown) => unknown) {
  return Object.fromEntries(Object.entries(sound).map(([name, value]) => [name, to(value)]));
}

test('status shows the next run as the note of a watch says it', async () => {
  writeFileSync(`${scene.database}.watch`, JSON.stringify(note));
  expect(await scene.run('status')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Next run: 2099-01-01'),
  });
});

test.each(odd)('status shows no next run if %s is in the place of the note', async (_what, put) => {
  await using folder = temporaryFolder();
  const database = join(folder.path, 'm.sqlite');
  writeFileSync(database, readFileSync(scene.database));
  put(`${database}.watch`, note);
  const env = { ...scene.env, DOCMIRROR_DATABASE: database };
  const { code, stdout, stderr } = await runProcess(['status'], { env, timeoutMs: 10_000 });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toMatch(/undefined|Next run/);
});

test.each(casesOf(odd, 2))(
  'the list of backups goes on if %s is in the place of a manifest',
  async (_what, put) => {
    await using folder = temporaryFolder();
    const made = await scene.run('backup', folder.path, '--keep', '3', '--json');
    const name = readdirSync(folder.path).find(each => each.endsWith('.json')) ?? '';
    const manifest = JSON.parse(readFileSync(join(folder.path, name), 'utf8'));
    put(join(folder.path, 'a.sqlite.json'), manifest);
    const env = scene.env;
    const words = ['backup', '--list', folder.path, '--max-age', '26h'];
    const { code, stdout, stderr } = await runProcess(words, { env, timeoutMs: 10_000 });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/undefined|NaN|\[object/);
    expect(stdout.split('\n').filter(line => line.includes(JSON.parse(made.stdout).path))).toHaveLength(1);
    expect(stdout).not.toContain('a.sqlite');
  },
);

test('a backup whose file is a pipe is not read', async () => {
  await using folder = temporaryFolder();
  await scene.run('backup', join(folder.path, 'a.sqlite'));
  execFileSync('rm', [join(folder.path, 'a.sqlite')]);
  execFileSync('mkfifo', [join(folder.path, 'a.sqlite')]);
  const words = ['backup', '--list', folder.path];
  const { code, stdout } = await runProcess(words, { env: scene.env, timeoutMs: 10_000 });
  expect({ code, stdout }).toEqual({ code: 4, stdout: expect.stringContaining('altered') });
});

test('a run goes on if the file of metrics is a pipe, or is too large', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'm.prom');
  execFileSync('mkfifo', [path]);
  const sync = () => runProcess(['sync', '--metrics-file', path], { env: scene.env, timeoutMs: 20_000 });
  expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining('could not be written') });
  execFileSync('rm', [path]);
  writeFileSync(path, 'x'.repeat(5 * 1024 * 1024));
  expect((await sync()).code).toBe(0);
  expect(readFileSync(path, 'utf8')).toContain('docmirror_command_last_exit_code{');
});
