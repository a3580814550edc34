import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/run-cli.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'alerting.md'), 'utf8');
const run = promisify(execFile);
const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;

/** The text of each code block of the page in a language. */
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) => block);

const [prometheus = '', alertmanager = ''] = blocks('yaml');

test('the lines for cron begin as those of deploy/crontab', () => {
  const [sync = ''] = /^0 \* .*$/m.exec(readFileSync(join(root, 'deploy', 'crontab'), 'utf8')) ?? [];
  const [mailed = '', slack = ''] = blocks('crontab');
  expect(mailed.split('\n')[1]).toBe(sync);
  expect(slack.trim()).toBe(
    sync.replace('exit $code', "/usr/local/bin/tell-slack 'docmirror sync' $code; exit $code"),
  );
});

test('the script for Slack has two lines, and sends what Slack takes', async () => {
  const script = blocks('sh').find(block => block.startsWith('#!/bin/sh')) ?? '';
  expect(script.trim().split('\n')).toHaveLength(2);
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(JSON.parse(await text(request)));
    response.end('ok');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'tell-slack'), script);
  const env = { PATH: process.env.PATH ?? '', SLACK_URL: `http://127.0.0.1:${port}/services/x` };
  const child = spawn('sh', [join(folder.path, 'tell-slack'), 'docmirror sync', '12'], {
    env,
    stdio: 'ignore',
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(bodies).toEqual([
    { text: expect.stringMatching(/^docmirror sync failed on \S+ with exit code 12$/) },
  ]);
  server.closeAllConnections();
  server.close();
});

test('every alert that the page names is one of the rules', () => {
  const rules = readFileSync(join(root, 'deploy', 'prometheus-rules.yaml'), 'utf8');
  const known = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  const named = page.match(/\bDocmirror[A-Z]\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter(name => !known.includes(name))).toEqual([]);
});

test('each severity of the rules has a receiver', () => {
  const rules = readFileSync(join(root, 'deploy', 'prometheus-rules.yaml'), 'utf8');
  const severities = new Set([...rules.matchAll(/severity: (\w+)/g)].map(([, name]) => name));
  expect(severities).toEqual(new Set(['page', 'ticket', 'info']));
  const { route } = parse(alertmanager) as { route: { receiver: string; routes: { matchers: string[] }[] } };
  expect(route.receiver).toBe('tickets');
  expect(route.routes.flatMap(({ matchers }) => matchers)).toEqual(['severity="page"', 'severity="info"']);
});

const skippedFor = (program: string) => (isInstalled(program) ? '' : ` (skipped: there is no ${program})`);

test.skipIf(!isInstalled('amtool'))(
  `Alertmanager takes its configuration${skippedFor('amtool')}`,
  async () => {
    await using folder = temporaryFolder();
    const file = join(folder.path, 'alertmanager.yml');
    writeFileSync(file, alertmanager);
    expect((await run('amtool', ['check-config', file])).stdout).toContain('SUCCESS');
    writeFileSync(file, alertmanager.replace('receiver: night', 'receiver: nowhere'));
    await expect(run('amtool', ['check-config', file])).rejects.toThrow();
  },
);

test.skipIf(!isInstalled('promtool'))(
  `Prometheus takes its configuration${skippedFor('promtool')}`,
  async () => {
    await using folder = temporaryFolder();
    const file = join(folder.path, 'prometheus.yml');
    const here = (said: string) => said.replace('/etc/prometheus/', `${join(root, 'deploy')}/`);
    writeFileSync(file, here(prometheus));
    expect((await run('promtool', ['check', 'config', file])).stdout).toMatch(/14 rules found/);
    writeFileSync(file, here(prometheus).replace('static_configs', 'static'));
    await expect(run('promtool', ['check', 'config', file])).rejects.toThrow();
  },
);
