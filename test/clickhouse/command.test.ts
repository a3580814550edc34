import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { tamper } from '../store/verify/tamper.ts';
import { type CliResult, runCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { Engine } from './engine.ts';
import { expectPublished } from './mirrors.ts';

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start('a password');
});

afterAll(() => engine[Symbol.asyncDispose]());

interface Published {
  readonly scene: Scene;
  readonly target: ClickHouse;
  sync(): Promise<void>;
  publish(...args: string[]): Promise<CliResult>;
}

/** A scene, a database of its own in ClickHouse, and the command that joins them. */
async function setPublished(): Promise<Published & AsyncDisposable> {
  const scene = await setScene({}, { exports: 60 });
  const database = await engine.database();
  const target = engine.client(database);
  const passwordFile = join(scene.folder, 'password');
  writeFileSync(passwordFile, 'a password\n');
  const env = {
    DOCMIRROR_DATABASE: scene.database,
    DOCMIRROR_CLICKHOUSE_URL: engine.url,
    DOCMIRROR_CLICKHOUSE_PASSWORD_FILE: passwordFile,
    DOCMIRROR_CLICKHOUSE_DATABASE: database,
    DOCMIRROR_TENANT: 'acme',
  };
  return {
    scene,
    target,
    async sync() {
      const synced = await scene.sync('--full', '--allow-mass-removal');
      expect([0, 3], synced.stderr).toContain(synced.code);
    },
    publish: (...args) => runCli(['publish', 'clickhouse', ...args], { env }),
    async [Symbol.asyncDispose]() {
      await target.close();
      await scene[Symbol.asyncDispose]();
    },
  };
}

describe('publish clickhouse', () => {
  test('brings a mirror over as export has it, run after run, and says what it did', async () => {
    await using published = await setPublished();
    const { scene, sync, publish } = published;
    await sync();
    expect(await publish()).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^acme: run 1: \d+ rows and \d+ changes sent to http:\S+ and verified in [\d.]+ s\.\n$/,
      ),
    });
    await expectPublished(published.target, scene);
    const { lists } = scene.service;
    lists['document-exports'] = lists['document-exports'].slice(5);
    lists.webhooks = lists.webhooks.slice(1);
    lists.collections = lists.collections.map((item, at) =>
      at === 0 && typeof item === 'object' ? { ...item, name: 'renamed' } : item,
    );
    await sync();
    lists['document-exports'] = lists['document-exports'].slice(0, -3);
    await sync();
    const result = await publish('--json');
    expect(JSON.parse(result.stdout)).toEqual({
      tenant: 'acme',
      mirrorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      fromRunId: 2,
      throughRunId: 3,
      runs: 2,
      rows: expect.any(Number),
      changes: expect.any(Number),
      verified: true,
      durationMs: expect.any(Number),
    });
    await expectPublished(published.target, scene);
    expect((await publish()).stdout).toMatch(/^acme: nothing new; http:\S+ has run 3, verified in/);
    await publish('--again', '--replace-tenant');
    await expectPublished(published.target, scene);
  });

  test("ends with 4 if ClickHouse has something else, and with 2 if the tenant is another mirror's", async () => {
    await using published = await setPublished();
    await using other = await setPublished();
    await published.sync();
    await published.publish();
    await published.target.command('ALTER TABLE collections_rows DELETE WHERE id % 2 = 0');
    const differing = await published.publish();
    expect(differing).toMatchObject({ code: 4, stdout: '' });
    expect(differing.stderr).toMatch(
      /^docmirror: .*does not have.*collections: \d+ rows there, \d+ in the mirror.*\n$/,
    );
    await other.sync();
    const refused = await other.publish('--target-database', published.target.options.database);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^docmirror: The tenant acme was published by another mirror.*\n$/);
  });

  test('ends with 2 if the password or the user is refused, and does not say the password', async () => {
    await using published = await setPublished();
    await published.sync();
    writeFileSync(join(published.scene.folder, 'password'), 'wrong-secret');
    for (const args of [[], ['--user', 'nobody']]) {
      const { code, stderr } = await published.publish(...args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/refused the user.*DOCMIRROR_CLICKHOUSE_PASSWORD/);
      expect(stderr).not.toContain('wrong-secret');
    }
  });

  test('refuses a mirror that was rebuilt since, until the tenant is replaced', async () => {
    await using published = await setPublished();
    const { scene, sync, publish } = published;
    await sync();
    await publish();
    tamper(scene.database, 'DELETE FROM document_exports WHERE id = 5');
    expect(await scene.sync('--rebuild')).toMatchObject({ code: 0 });
    expect(await publish()).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^docmirror: The tenant acme was .* rebuilt since .*--replace-tenant\. \[settings\]\n$/,
      ),
    });
    expect(await publish('--again', '--replace-tenant')).toMatchObject({ code: 0 });
    await expectPublished(published.target, scene);
  });

  const url = { DOCMIRROR_CLICKHOUSE_URL: 'http://127.0.0.1:9' };
  const bad: [named: string, args: string[], env: Record<string, string>][] = [
    ['DOCMIRROR_CLICKHOUSE_URL', [], {}],
    ['DOCMIRROR_CLICKHOUSE_URL', [], { DOCMIRROR_CLICKHOUSE_URL: 'https://u:secret@clickhouse.example' }],
    ['DOCMIRROR_TENANT', [], url],
    ['--tenant', ['--tenant', 'x'.repeat(65)], url],
    ['--replace-tenant', ['--replace-tenant'], url],
  ];

  test.each(bad)('names the setting that can not be used: %s, with %j and %j', async (named, args, env) => {
    const result = await runCli(['publish', 'clickhouse', ...args], { env });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(/^docmirror: [^\n]+\n$/);
    expect(result.stderr).toContain(named);
    expect(result.stderr).not.toContain('secret');
  });

  test('--print-ddl needs no server, and its statements make what is published into', async () => {
    await using published = await setPublished();
    const { stdout, code } = await runCli([
      'publish',
      'clickhouse',
      '--print-ddl',
      '--target-database',
      'printed',
    ]);
    expect(code).toBe(0);
    for (const statement of stdout.split(/;\n\n?/).filter(text => text !== ''))
      await published.target.command(statement);
    await published.sync();
    expect(await published.publish('--target-database', 'printed')).toMatchObject({ code: 0 });
  });
});
