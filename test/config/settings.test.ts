import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectExactMirror } from '../support/oracle.ts';
import { runCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const good = { DOCMIRROR_BASE_URL: 'http://127.0.0.1:9', DOCMIRROR_TOKEN: 'secret-token' };

const bad: [named: string, args: string[], env: Record<string, string>][] = [
  ['DOCMIRROR_BASE_URL', ['sync'], { DOCMIRROR_BASE_URL: '' }],
  ['DOCMIRROR_BASE_URL', ['sync'], { DOCMIRROR_BASE_URL: 'not an address' }],
  ['DOCMIRROR_BASE_URL', ['sync'], { DOCMIRROR_BASE_URL: 'ftp://127.0.0.1/' }],
  ['DOCMIRROR_BASE_URL', ['sync'], { DOCMIRROR_BASE_URL: 'http://127.0.0.1:9/a b' }],
  ['--base-url: not an address', ['sync', '--base-url', 'http://127.0.0.1:9/a\tb'], {}],
  ['DOCMIRROR_BASE_URL', ['sync'], { DOCMIRROR_BASE_URL: 'http://service.example/' }],
  ['DOCMIRROR_BASE_URL', ['sync'], { DOCMIRROR_BASE_URL: 'https://user:secret-token@service.example/' }],
  ['DOCMIRROR_TOKEN', ['sync'], { DOCMIRROR_TOKEN: '' }],
  ['DOCMIRROR_TOKEN', ['sync'], { DOCMIRROR_TOKEN: 'secret-token\n2' }],
  ['DOCMIRROR_PAGE_SIZE', ['sync'], { DOCMIRROR_PAGE_SIZE: '0' }],
  ['DOCMIRROR_PAGE_SIZE', ['sync'], { DOCMIRROR_PAGE_SIZE: 'many' }],
  ['DOCMIRROR_CONCURRENCY', ['sync'], { DOCMIRROR_CONCURRENCY: '-1' }],
  ['DOCMIRROR_TIMEOUT_MS', ['sync'], { DOCMIRROR_TIMEOUT_MS: '1e3' }],
  ['DOCMIRROR_GIVE_UP_AFTER', ['sync'], { DOCMIRROR_GIVE_UP_AFTER: '5' }],
  ['DOCMIRROR_GIVE_UP_AFTER', ['sync'], { DOCMIRROR_GIVE_UP_AFTER: '25d' }],
  ['DOCMIRROR_RETRIES is not a setting', ['sync'], { DOCMIRROR_RETRIES: '5' }],
  ['DOCMIRROR_MAX_REQUESTS_PER_SECOND', ['sync'], { DOCMIRROR_MAX_REQUESTS_PER_SECOND: '0' }],
  ['DOCMIRROR_DEADLINE', ['sync'], { DOCMIRROR_DEADLINE: '0' }],
  ['DOCMIRROR_WAIT', ['sync'], { DOCMIRROR_WAIT: 'long' }],
  ['DOCMIRROR_LABELS', ['sync'], { DOCMIRROR_LABELS: 'acme' }],
  ['DOCMIRROR_LABELS', ['status'], { DOCMIRROR_LABELS: 'tenant=acme,tenant=other' }],
  ['DOCMIRROR_LABELS', ['sync'], { DOCMIRROR_LABELS: 'resource=acme' }],
  ['DOCMIRROR_TRIGGER', ['sync'], { DOCMIRROR_TRIGGER: 'by hand' }],
  ['DOCMIRROR_FULL_EVERY', ['sync'], { DOCMIRROR_FULL_EVERY: 'daily' }],
  ['DOCMIRROR_MAX_REMOVALS', ['sync'], { DOCMIRROR_MAX_REMOVALS: '150%' }],
  ['DOCMIRROR_LOG_LEVEL', ['sync'], { DOCMIRROR_LOG_LEVEL: 'loud' }],
  ['DOCMIRROR_TIMEZONE', ['sync'], { DOCMIRROR_TIMEZONE: 'Mars/Olympus' }],
  ['DOCMIRROR_SCHEDULE', ['sync'], { DOCMIRROR_SCHEDULE: 'hourly' }],
  ['DOCMIRROR_SCHEDULE', ['status'], { DOCMIRROR_SCHEDULE: '0 * * *' }],
  ['--max-age goes with --http', ['watch', '--max-age', '1h'], {}],
  ['DOCMIRROR_ALLOW_HTTP', ['sync'], { DOCMIRROR_ALLOW_HTTP: 'perhaps' }],
  ['DOCMIRROR_PAGESIZE', ['sync'], { DOCMIRROR_PAGESIZE: '50' }],
  ['DOCMIRROR_DATABASE', ['sync'], { DOCMIRROR_DATABASE: '/nowhere/mirror.sqlite' }],
  ['HTTP_PROXY', ['sync'], { HTTP_PROXY: 'http://u:secret-token@127.0.0.1:1/path' }],
  ['http_proxy', ['sync'], { http_proxy: 'http://127.0.0.1:1/?secret-token' }],
  ['HTTP_PROXY', ['sync'], { HTTP_PROXY: '127.0.0.1:1/#secret-token' }],
  ['HTTP_PROXY', ['sync'], { HTTP_PROXY: 'http://127.0.0.1:1#' }],
  ['--page-size', ['sync', '--page-size', 'none'], {}],
  ['--resource', ['sync', '--resource', 'nothing'], {}],
  ['--nothing', ['sync', '--nothing'], {}],
  ['--pagesize', ['sync', '--pagesize', '5'], {}],
  ['--tokn=…', ['sync', '--tokn=secret-token'], {}],
  ['nothing', ['nothing'], {}],
  ['--limit', ['runs', '--limit', '0'], {}],
  ['--max-age', ['status', '--max-age', 'old'], {}],
];

describe.concurrent('a setting that can not be used', () => {
  test.each(bad)('%s of %j with %j is one line and exit code 2', async (named, args, env) => {
    await using scene = await setScene();
    const database = join(scene.folder, 'never.sqlite');
    const result = await runCli(args, { env: { ...good, DOCMIRROR_DATABASE: database, ...env } });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(/^[^\n]+\n$/);
    expect(result.stderr).toContain(named);
    expect(result.stderr).not.toContain('secret-token');
    expect(readdirSync(scene.folder)).toEqual([]);
  });
});

describe.concurrent('settings', () => {
  test('spaces around a value say nothing, in a flag as in the environment', async () => {
    await using scene = await setScene();
    for (const [args, env] of [
      [['--page-size', ' 30 '], {}],
      [[], { DOCMIRROR_PAGE_SIZE: ' 30 ' }],
    ] as const) {
      const result = await runCli(['sync', '--json', '--full', ...args], { env: { ...scene.env, ...env } });
      expect(JSON.parse(result.stdout).resources[0]).toMatchObject({ pageSize: 30 });
    }
  });

  test('a flag goes before the environment', async () => {
    await using scene = await setScene({ maxPageSize: 1000 });
    const env = { ...scene.env, DOCMIRROR_PAGE_SIZE: '10' };
    const result = await runCli(['sync', '--json', '--page-size', '30'], { env });
    expect(JSON.parse(result.stdout).resources[0]).toMatchObject({ pageSize: 30 });
  });

  test('the token is read from its file again for each run', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'token');
    const { DOCMIRROR_TOKEN: _token, ...env } = scene.env;
    writeFileSync(file, 'wrong-token\n');
    expect((await runCli(['sync'], { env: { ...env, DOCMIRROR_TOKEN_FILE: file } })).code).toBe(12);
    writeFileSync(file, `${scene.service.options.token}\n`);
    expect((await runCli(['sync'], { env: { ...env, DOCMIRROR_TOKEN_FILE: file } })).code).toBe(0);
    expectExactMirror(scene.database, scene.service);
  });
});

describe.concurrent('the token', () => {
  test('is refused: exit code 12 after one request a list, and nothing is lost', async () => {
    await using scene = await setScene();
    await scene.sync();
    scene.service.options.token = 'another-token';
    scene.service.requests.length = 0;
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 12, status: 'failed' });
    expect(scene.service.requests).toHaveLength(3);
    expectExactMirror(scene.database, scene.service);
  });

  test('does not allow one list: the others are mirrored, and the exit code is 3', async () => {
    await using scene = await setScene({ status: { collections: 403 } });
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 3, status: 'partial' });
    expect(synced.of('collections')).toMatchObject({
      status: 'failed',
      requests: 1,
      error: { code: 'forbidden' },
    });
    expectExactMirror(scene.database, scene.service, ['document-exports', 'webhooks']);
  });

  test('and the secrets of endpoints appear in no output and no table but their own', async () => {
    await using scene = await setScene({ status: { 'document-exports': 500 } });
    scene.env.DOCMIRROR_GIVE_UP_AFTER = '300ms';
    scene.env.DOCMIRROR_LOG_LEVEL = 'trace';
    const outputs = [await scene.run('sync'), await scene.run('status'), await scene.run('runs', '--json')];
    const said = outputs.map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(said).not.toContain('secret-token');
    expect(said).not.toContain('endpoint-secret');
    expect(readFileSync(scene.database).includes('secret-token')).toBe(false);
    expect(existsSync(`${scene.database}.lock`)).toBe(true);
    expect(readFileSync(`${scene.database}.lock`).includes('secret')).toBe(false);
  });
});

describe.concurrent('the file', () => {
  test('of another program is refused and left as it is', async () => {
    await using scene = await setScene();
    for (const content of ['not a database at all, but long enough to have a header', 'short']) {
      writeFileSync(scene.database, content);
      const result = await scene.run('sync');
      expect(result).toMatchObject({ code: 2 });
      expect(result.stderr).toMatch(/is not an SQLite database.*\n$/);
      expect(readFileSync(scene.database, 'utf8')).toBe(content);
      expect(readdirSync(scene.folder)).toEqual(['mirror.sqlite']);
    }
  });

  test('of a newer docmirror is refused', async () => {
    await using scene = await setScene();
    await scene.sync();
    const { default: Database } = await import('better-sqlite3');
    const database = new Database(scene.database);
    database.exec('PRAGMA user_version = 9999');
    database.close();
    for (const command of ['sync', 'status', 'runs']) {
      const result = await scene.run(command);
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(/made by a newer docmirror/);
    }
  });

  test('is never made by a command that reads', async () => {
    await using scene = await setScene();
    for (const args of [['status'], ['runs'], ['serve', '--port', '0'], ['sync', '--dry-run']]) {
      const { code, stderr } = await scene.run(...args);
      expect([args[0], code], stderr).toEqual([args[0], args[0] === 'sync' ? 0 : 1]);
    }
    expect(readdirSync(scene.folder)).toEqual([]);
  });

  test('is the whole mirror between runs, and a dry run leaves it as it is', async () => {
    await using scene = await setScene();
    await scene.sync();
    expect(readdirSync(scene.folder).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
    scene.service.lists.collections.pop();
    const before = readFileSync(scene.database);
    const dry = await scene.sync('--dry-run');
    expect(dry.of('collections')).toMatchObject({ removed: 1 });
    expect(dry.summary.runId).toBe(null);
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
  });

  test('gets no record written by a run without changes', async () => {
    await using scene = await setScene({ maxPageSize: 40 }, { exports: 500 });
    await scene.sync();
    const tables = [
      'connections',
      'document_exports',
      'collections',
      'webhooks',
      'webhook_events',
      'record_history',
    ];
    const dump = () => tables.map(table => sqlite(scene.database, `SELECT * FROM ${table}`));
    const before = dump();
    const incremental = await scene.sync();
    expect(incremental).toMatchObject({ code: 0 });
    expect(incremental.of('document-exports')).toMatchObject({
      completeness: 'incremental',
      requests: 1,
      unchanged: 500,
    });
    expect(dump()).toEqual(before);
    const full = await scene.sync('--full');
    expect(full).toMatchObject({ code: 0 });
    expect(full.of('document-exports')).toMatchObject({ completeness: 'proven', walks: 1, unchanged: 500 });
    expect(dump()).toEqual(before);
  });
});
