import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectExactMirror } from '../support/oracle.ts';
import { runCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

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
  test('is never made by a command that reads', async () => {
    await using scene = await setScene();
    for (const args of [['status'], ['runs'], ['serve', '--port', '0'], ['sync', '--dry-run']]) {
      const { code, stderr } = await scene.run(...args);
      expect([args[0], code], stderr).toEqual([args[0], args[0] === 'sync' ? 0 : 1]);
    }
    expect(readdirSync(scene.folder)).toEqual([]);
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
