import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { programPath } from '../support/program.ts';
import { runCli, spawnCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

describe.concurrent('the flag', () => {
  test('--base-url, --token and --database say where', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'other.sqlite');
    const { url, options } = scene.service;
    const args = ['sync', '--base-url', url, '--token', options.token, '--database', file];
    const env = { DOCMIRROR_BASE_URL: 'http://127.0.0.1:9', DOCMIRROR_TOKEN: 'wrong-token' };
    expect(await runCli(args, { env })).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(true);
  });

  test('--allow-http lets the token cross a network in the clear', async () => {
    await using scene = await setScene();
    // It is this machine, but not by an address that says so.
    scene.env.DOCMIRROR_BASE_URL = scene.service.url.replace('127.0.0.1', '0.0.0.0');
    expect(await scene.run('sync')).toMatchObject({ code: 2 });
    expect(await scene.run('sync', '--allow-http')).toMatchObject({ code: 0 });
  });

  test('--concurrency bounds the requests in flight', async () => {
    await using scene = await setScene({ maxPageSize: 5, latencyMs: 20 });
    await scene.sync('--concurrency', '1');
    expect(scene.service.maxInFlight).toBe(1);
    await scene.sync('--concurrency', '3', '--full');
    expect(scene.service.maxInFlight).toBe(3);
  });

  test('--timeout-ms bounds a request', async () => {
    await using scene = await setScene({ latencyMs: 3_000 });
    const args = ['--resource', 'webhooks', '--timeout-ms', '300', '--give-up-after', '0'];
    const { requests, error } = (await scene.sync(...args)).of('webhooks');
    expect({ requests, error }).toMatchObject({ requests: 1, error: { code: 'timeout' } });
  });

  test('--log-level sets how much is logged', async () => {
    await using scene = await setScene();
    expect((await scene.run('sync', '--log-level', 'debug')).stderr).toContain('"level":"debug"');
    expect((await scene.run('sync', '--log-level', 'silent')).stderr).toBe('');
  });

  test('--schedule and --timezone say when a watch runs', async () => {
    await using scene = await setScene();
    const args = ['watch', '--schedule', '0 0 1 1 *', '--timezone', 'Asia/Tokyo', '--log-level', 'info'];
    await using cli = spawnCli(args, { env: scene.env });
    const said = cli.child.stderr;
    if (said === null) throw new Error('The watch has no standard error.');
    const [log] = await once(said, 'data');
    cli.child.kill('SIGTERM');
    await cli.done;
    expect(String(log)).toMatch(/"nextRunAt":"\d{4}-12-31T15:00:00\.000Z"/);
  });
});

describe.concurrent('--env-file', () => {
  test('brings settings, below the flags and above the environment', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'one.env');
    const lines = [
      '# a tenant',
      `DOCMIRROR_BASE_URL="${scene.service.url}" # where it is`,
      `export DOCMIRROR_TOKEN='${scene.service.options.token}'`,
      'DOCMIRROR_PAGE_SIZE=10',
      'DOCMIRROR_DATABASE=',
    ];
    writeFileSync(file, `\uFEFF${lines.join('\r\n')}\r\n`);
    const env = { DOCMIRROR_DATABASE: scene.database, DOCMIRROR_PAGE_SIZE: '20', DOCMIRROR_TOKEN: '' };
    const sync = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli(['sync', '--json', '--env-file', file, ...args], { env });
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout).resources[0].pageSize;
    };
    expect(await sync()).toBe(10);
    expect(await sync('--page-size', '30')).toBe(30);
    expect(await runCli(['status', '--env-file', file], { env })).toMatchObject({ code: 0 });
  });

  test('gives the token in whatever way: no token of the environment is used', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'one.env');
    const [right, wrong] = [join(scene.folder, 'right'), join(scene.folder, 'wrong')];
    writeFileSync(right, scene.service.options.token);
    writeFileSync(wrong, 'another-token');
    const { DOCMIRROR_TOKEN: token = '', ...env } = scene.env;
    const sync = async (line: string, own: Record<string, string>) => {
      writeFileSync(file, `${line}\n`);
      return (await runCli(['sync', '--env-file', file], { env: { ...env, ...own } })).code;
    };
    const others = {
      DOCMIRROR_TOKEN: 'another-token',
      DOCMIRROR_TOKEN_FILE: wrong,
      DOCMIRROR_TOKEN_COMMAND: `cat ${wrong}`,
    };
    expect(await sync(`DOCMIRROR_TOKEN=${token}`, others)).toBe(0);
    expect(await sync(`DOCMIRROR_TOKEN_FILE=${right}`, others)).toBe(0);
    expect(await sync(`DOCMIRROR_TOKEN_COMMAND=cat ${right}`, others)).toBe(0);
    expect(await sync(`DOCMIRROR_TOKEN_FILE=${wrong}`, { DOCMIRROR_TOKEN: token })).toBe(12);
    expect(await sync('DOCMIRROR_TOKEN_FILE=', { DOCMIRROR_TOKEN: token })).toBe(0);
    const tokens = new Set(scene.service.requests.map(({ authorization }) => authorization));
    expect([...tokens].sort()).toEqual(['Bearer another-token', `Bearer ${token}`]);
  });

  test('gives the password of ClickHouse in either way: none of the environment is used', async () => {
    await using scene = await setScene();
    await scene.sync();
    const passwords: string[] = [];
    const server = createServer((request, response) => {
      const [, credentials = ''] = (request.headers.authorization ?? '').split(' ');
      passwords.push(Buffer.from(credentials, 'base64').toString());
      response.writeHead(403).end('no ClickHouse');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const file = join(scene.folder, 'one.env');
    const password = join(scene.folder, 'password');
    writeFileSync(password, 'of the environment');
    const lines = [
      `DOCMIRROR_CLICKHOUSE_URL=http://127.0.0.1:${port}`,
      'DOCMIRROR_CLICKHOUSE_PASSWORD=of-the-file',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    scene.env.DOCMIRROR_CLICKHOUSE_PASSWORD_FILE = password;
    await scene.run('publish', 'clickhouse', '--tenant', 'acme', '--env-file', file);
    server.closeAllConnections();
    server.close();
    expect(passwords[0]).toBe('default:of-the-file');
  });

  test('names the proxy, in lower or upper case', async () => {
    await using scene = await setScene({}, { exports: 1 });
    const file = join(scene.folder, 'one.env');
    writeFileSync(file, 'HTTP_PROXY=http://127.0.0.1:9\n');
    scene.env.http_proxy = 'http://127.0.0.1:10';
    const { stdout } = await scene.run('doctor', '--env-file', file);
    expect(stdout).toContain('http://127.0.0.1:9 ');
    expect(stdout).not.toContain('127.0.0.1:10');
  });

  test('can be a pipe, but not one that was empty', async () => {
    await using scene = await setScene();
    const { DOCMIRROR_TOKEN: token, ...env } = scene.env;
    const sync = async (text: string) => {
      const program = `exec "$0" -- "$1" sync --env-file <(printf %s '${text}')`;
      const child = spawn('bash', ['--norc', '-c', program, process.execPath, programPath], {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [said, [code]] = await Promise.all([readText(child.stderr), once(child, 'close')]);
      return { code, said };
    };
    expect((await sync(`DOCMIRROR_TOKEN=${token}`)).code).toBe(0);
    const requests = scene.service.requests.length;
    // The writer of the pipe might have failed, and the environment might have the token of another tenant.
    env.DOCMIRROR_TOKEN = 'another-token';
    const empty = await sync('');
    expect(empty.code).toBe(2);
    expect(empty.said).toMatch(/^docmirror: --env-file: \S+ is a pipe that was empty\. .*\n$/);
    expect(scene.service.requests).toHaveLength(requests);
  });

  test('can have comments and quotes', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'one.env');
    writeFileSync(
      file,
      `\n # DOCMIRROR_X\nexport DOCMIRROR_ACTOR="a # b" # one\nDOCMIRROR_CONCURRENCY='2' # two # three\n`,
    );
    expect(await scene.run('sync', '--env-file', file)).toMatchObject({ code: 0 });
    expect(sqlite(scene.database, 'SELECT _actor FROM sync_runs')).toEqual([{ _actor: 'a # b' }]);
  });
});
