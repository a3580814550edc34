import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { contextOf } from '../../src/commands/command.ts';
import { main } from '../../src/commands/main.ts';
import { notifierOf } from '../../src/commands/notifier.ts';
import { firstLineAfter } from '../../src/commands/run-once.ts';
import type { SharedRunSummary } from '../../src/render/run-summary.ts';
import { holdRun } from '../support/held-run.ts';
import { spawnCli } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

interface Pinged {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly body: string;
}

/** A server that is pinged, as healthchecks.io is. */
async function startChecks(answer: (response: ServerResponse) => void = response => response.end('OK')) {
  const pings: Pinged[] = [];
  const server = createServer(async (request, response) => {
    pings.push({ method: request.method, path: request.url, body: await text(request) });
    answer(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    pings,
    paths: () => pings.map(({ path }) => path),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

describe.concurrent('DOCMIRROR_PING_URL', () => {
  test('is called at the start and after success, with the summary, the labels and the checkpoint', async () => {
    await using checks = await startChecks();
    await using scene = await setScene();
    const url = `${checks.url}/key/acme-%c?create=1`;
    Object.assign(scene.env, { DOCMIRROR_PING_URL: url, DOCMIRROR_LABELS: 'tenant=acme' });
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 0 });
    expect(checks.paths()).toEqual(['/key/acme-sync/start?create=1', '/key/acme-sync?create=1']);
    const body = checks.pings[1]?.body ?? '';
    expect(checks.pings[1]?.method).toBe('POST');
    expect(body).toMatch(/^List .*\n.*Run 1 completed in .*\n\ntenant=acme\n\ndocmirror\//s);
    const checkpoint = join(scene.folder, 'checkpoint');
    await scene.run('audit', 'checkpoint', '--unsigned', '--out', checkpoint);
    const lines = body.trimEnd().split('\n').slice(-3);
    expect(lines[1]).toBe('1');
    expect(body).not.toContain('secret-token');
    for (const command of [['backup', 'copy.sqlite'], ['verify']]) {
      checks.pings.length = 0;
      expect(await scene.run(...command)).toMatchObject({ code: 0 });
      const path = `/key/acme-${command[0]}`;
      expect(checks.paths()).toEqual([`${path}/start?create=1`, `${path}?create=1`]);
    }
    checks.pings.length = 0;
    await scene.run('sync', '--dry-run');
    await scene.run('backup', '--check', 'copy.sqlite');
    expect(checks.paths()).toEqual([]);
  });

  test('shows no secret of the command, nor its own address', async () => {
    await using checks = await startChecks();
    const url = `${checks.url}/secret-uuid`;
    const environment = { DOCMIRROR_PING_URL: url };
    const { signal } = new AbortController();
    const io = { environment, stdout: new PassThrough(), stderr: new PassThrough(), signal };
    const context = contextOf(io, { environment, inEnvFile: new Set(), flags: {} });
    context.secrets.add('hidden-word');
    await notifierOf('sync', context).ended(1, `It said hidden-word at ${url}.`);
    expect(checks.pings[0]?.body).toMatch(/^It said .* at /);
    expect(checks.pings[0]?.body).not.toMatch(/hidden-word|secret-uuid/);
  });

  test('is called with /fail after failure, also before a run can begin, and not at all with exit code 11', async () => {
    await using checks = await startChecks();
    await using scene = await setScene();
    Object.assign(scene.env, { DOCMIRROR_PING_URL: `${checks.url}/abc` });
    scene.service.options.status = { webhooks: 500 };
    expect(await scene.sync('--give-up-after', '0')).toMatchObject({ code: 3 });
    expect(checks.paths()).toEqual(['/abc/start', '/abc/fail']);
    expect(checks.pings[1]?.body).toContain('answered 500');
    scene.service.options.status = {};
    checks.pings.length = 0;
    expect(await scene.run('sync', '--concurrency', '0')).toMatchObject({ code: 2 });
    expect(checks.paths()).toEqual(['/abc/fail']);
    expect(checks.pings[0]?.body).toMatch(/--concurrency.*\[settings\]/);
    for (const words of [['--badflag'], ['--env-file', 'nowhere']]) {
      checks.pings.length = 0;
      expect(await scene.run('sync', ...words)).toMatchObject({ code: 2 });
      expect(checks.paths()).toEqual(['/abc/fail']);
      expect(checks.pings[0]?.body).toContain(words.at(-1));
    }
    await using held = await holdRun(scene, 'webhooks');
    checks.pings.length = 0;
    expect(await scene.run('sync')).toMatchObject({ code: 11 });
    expect(checks.paths()).toEqual([]);
    await held.release();
    scene.service.options.latencyMs = 3_000;
    checks.pings.length = 0;
    await using cli = spawnCli(['sync'], { env: scene.env });
    await vi.waitFor(() => expect(checks.paths()).toEqual(['/abc/start']), 10_000);
    cli.child.kill('SIGTERM');
    const cancelled = /^mirror\.sqlite: cancelled\. The mirror is complete as of run 2, /;
    expect(await cli.done).toMatchObject({ code: 143, stdout: expect.stringMatching(cancelled) });
    expect(checks.paths()).toEqual(['/abc/start', '/abc/fail']);
    expect(checks.pings[1]?.body).toMatch(cancelled);
  });

  test('gets the line that begins the summary of a run that did not end with 0: whose it was, how, and since when the mirror is complete', async () => {
    await using checks = await startChecks();
    await using scene = await setScene();
    Object.assign(scene.env, { DOCMIRROR_PING_URL: checks.url, DOCMIRROR_LABELS: 'tenant=acme' });
    Object.assign(scene.env, { DOCMIRROR_GIVE_UP_AFTER: '0' });
    const told = () => checks.pings.at(-1)?.body;
    expect((await scene.run('sync')).stdout).toMatch(/^List /);
    scene.service.options.status = { webhooks: 500 };
    const line =
      /^acme: partial \(webhooks: server_error\)\. The mirror is complete as of run 1, [\d.]+ m?s ago\.\n\nList /;
    expect(await scene.run('sync')).toMatchObject({ code: 3, stdout: expect.stringMatching(line) });
    expect(told()).toMatch(line);
    expect((await scene.run('sync', '--json')).stdout).toMatch(/^\{/);
    expect(told()).toMatch(line);
    expect((await scene.run('sync', '--dry-run')).stdout).toMatch(/^List /);
    checks.pings.length = 0;
    await using watching = spawnCli(['watch', '--schedule', '* * * * * *'], { env: scene.env });
    await vi.waitFor(() => expect(told()).toMatch(line), 10_000);
    writeFileSync(scene.database, 'no mirror any more');
    const broken = /^docmirror watch: acme: .* \[mirror_file\]/;
    await vi.waitFor(() => expect(told()).toMatch(broken), 10_000);
    watching.child.kill('SIGTERM');
    await watching.done;
    const unknown = await scene.run('sync', '--concurrency', '0', '--json');
    expect(unknown.stderr).toMatch(/^docmirror: acme: .*--concurrency.* \[settings\]\n$/);
    expect(told()).toMatch(/^docmirror sync: acme: .*\[settings\]/);
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      error: { message: expect.not.stringContaining('acme') },
    });
    expect((await scene.run('runs', '--limit', 'x')).stderr).toMatch(/^docmirror: (?!acme)/);
  });

  test('gets the line without an age if the disk is so full that the mirror can not be read any more', async () => {
    await using scene = await setScene();
    const environment = { ...scene.env, DOCMIRROR_DATABASE: join(scene.folder, 'gone.sqlite') };
    const settings = { environment, inEnvFile: new Set<string>(), flags: {} };
    const { signal } = new AbortController();
    const context = contextOf(
      { environment, stdout: process.stdout, stderr: process.stderr, signal },
      settings,
    );
    scene.service.options.status = { webhooks: 500 };
    const { summary } = await scene.sync('--give-up-after', '0', '--resource', 'webhooks');
    const line = firstLineAfter(summary as unknown as SharedRunSummary, context);
    expect(line).toBe('gone.sqlite: failed (server_error).');
  });

  test('that does not answer is a warning after two tries within 10 s, and changes no exit code', async () => {
    await using refusing = await startChecks(response => response.writeHead(500).end());
    await using hanging = await startChecks(() => undefined);
    await using scene = await setScene();
    const refused = await scene.run('sync', '--ping-url', `${refusing.url}/secret-uuid`);
    expect(refused).toMatchObject({ code: 0 });
    expect(refusing.paths()).toEqual([
      '/secret-uuid/start',
      '/secret-uuid/start',
      '/secret-uuid',
      '/secret-uuid',
    ]);
    expect(refused.stderr).toContain('the ping could not be sent');
    expect(refused.stderr).not.toContain('secret-uuid');
    const startedAt = performance.now();
    expect(await scene.run('verify', '--ping-url', hanging.url)).toMatchObject({ code: 0 });
    expect(performance.now() - startedAt).toBeLessThan(17_000);
  });
});

describe.concurrent('DOCMIRROR_METRICS_FILE', () => {
  test('is written after each run of sync, backup and verify, and by a backup beside it', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'acme.prom');
    const backups = join(scene.folder, 'acme-backup.prom');
    Object.assign(scene.env, { DOCMIRROR_METRICS_FILE: file, DOCMIRROR_LABELS: 'tenant=acme' });
    await scene.sync();
    const metrics = () => readFileSync(file, 'utf8');
    expect(metrics()).toMatch(/^docmirror_list_records\{.*resource="webhooks".*\} 3$/m);
    expect(metrics()).toMatch(/^docmirror_command_last_exit_code\{tenant="acme",command="sync"\} 0$/m);
    expect(metrics()).not.toContain('process_');
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(existsSync(backups)).toBe(false);
    await scene.run('backup', 'copy.sqlite');
    expect(readFileSync(backups, 'utf8')).toMatch(
      /^docmirror_backup_last_success_run_id\{tenant="acme"\} 1$/m,
    );
    const madeAt = /^docmirror_backup_last_success_timestamp_seconds.*$/m.exec(
      readFileSync(backups, 'utf8'),
    )?.[0];
    writeFileSync(join(scene.folder, 'other.sqlite'), 'a text');
    expect(await scene.run('backup', 'other.sqlite')).toMatchObject({ code: 2 });
    expect(readFileSync(backups, 'utf8')).toContain(madeAt);
    expect(readFileSync(backups, 'utf8')).toMatch(/^docmirror_backup_last_exit_code\{tenant="acme"\} 2$/m);
    await scene.run('verify');
    expect(await scene.run('sync', '--max-pages', '0')).toMatchObject({ code: 2 });
    const codes = metrics().match(/^docmirror_command_last_exit_code.*$/gm);
    expect(codes?.toSorted()).toEqual([
      'docmirror_command_last_exit_code{tenant="acme",command="backup"} 2',
      'docmirror_command_last_exit_code{tenant="acme",command="sync"} 2',
      'docmirror_command_last_exit_code{tenant="acme",command="verify"} 0',
    ]);
    expect(metrics().match(/^# TYPE docmirror_command_last_exit_code/gm)).toHaveLength(1);
    expect(readdirSync(scene.folder).filter(name => name.includes('unfinished'))).toEqual([]);
  });

  test('keeps the exit code of a command that fails on a terminal to itself, and notes a success there', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'acme.prom');
    Object.assign(scene.env, { DOCMIRROR_METRICS_FILE: file });
    await scene.sync();
    const typed = (...args: string[]) => {
      const sink = () => new Writable({ write: (_text, _encoding, done) => done() });
      const stderr = Object.assign(sink(), { isTTY: true, columns: 80 });
      const { signal } = new AbortController();
      return main(args, { environment: { ...process.env, ...scene.env }, stdout: sink(), stderr, signal });
    };
    const codes = () =>
      [...readFileSync(file, 'utf8').matchAll(/^docmirror_command_last_exit_code\{(.*)$/gm)].map(
        ([, of]) => of,
      );
    scene.service.lists.webhooks.pop();
    expect(await typed('verify', '--live')).toBe(4);
    expect(codes()).toEqual(['command="sync"} 0']);
    expect(await scene.run('verify', '--live')).toMatchObject({ code: 4 });
    expect(codes()).toContain('command="verify"} 4');
    expect(await typed('verify')).toBe(0);
    expect(codes()).toContain('command="verify"} 0');
    expect(await typed('verify', '--live')).toBe(4);
    expect(codes().toSorted()).toEqual(['command="sync"} 0', 'command="verify"} 0']);
  });

  test('that can not be written is a warning', async () => {
    await using scene = await setScene();
    const { code, stderr } = await scene.run(
      'sync',
      '--metrics-file',
      join(scene.folder, 'none', 'acme.prom'),
    );
    expect(code).toBe(0);
    expect(stderr).toContain('the metrics could not be written');
    expect(await scene.run('sync', '--metrics-file', scene.database)).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    const other = join(scene.folder, 'token');
    writeFileSync(other, 'a token');
    for (const words of ['sync', 'backup copy.sqlite']) {
      const refused = await scene.run(...words.split(' '), '--metrics-file', other);
      expect(refused).toMatchObject({ code: 0, stderr: expect.stringContaining('no metrics of docmirror') });
    }
    expect(readFileSync(other, 'utf8')).toBe('a token');
    expect((await scene.run('doctor', '--metrics-file', other)).stdout).toContain('no metrics of docmirror');
    writeFileSync(other, '');
    await scene.run('sync', '--metrics-file', other);
    expect(readFileSync(other, 'utf8')).toContain('# HELP docmirror_');
  });
});
