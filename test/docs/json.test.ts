import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonPath, jsonText, schemaName, schemaOf, schemasFolder, schemaText } from '../../docs/json.ts';
import { jsonOutputs } from '../../docs/json-shapes.ts';
import { commandTable } from '../../src/commands/table/table.ts';
import type { Publication } from '../../src/publish/publish.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

type Json = { readonly [name: string]: Json } | readonly Json[] | string | number | boolean | null;

/** A schema that takes no field that it does not name. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strict(value)]));
  return 'properties' in schema && 'type' in schema ? { ...inner, additionalProperties: false } : inner;
}

const ajv = new Ajv({ allowUnionTypes: true, strict: false });
const validators = new Map(
  jsonOutputs.map(output => [schemaName(output), ajv.compile(strict(schemaOf(output)) as object)]),
);

/** Expects that each line is as the page says. */
function expectDocumented(name: string, stdout: string, label = name): Json[] {
  const validate = validators.get(name);
  const values = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Json);
  for (const value of values) {
    const isValid = validate?.(value);
    expect([label, isValid, validate?.errors ?? []]).toEqual([label, true, []]);
  }
  return values;
}

let scene: Scene;
const secret = 'a-secret-that-nobody-sees';

/** Runs a command in the scene, and expects its output to be as the page says. */
async function check(...args: string[]): Promise<{ code: number | null; values: Json[] }> {
  const { code, stdout } = await scene.run(...args);
  const name = args[0] === 'audit' || args[0] === 'publish' ? `${args[0]}-${args[1]}` : String(args[0]);
  return { code, values: expectDocumented(name, stdout, args.join(' ')) };
}

beforeAll(async () => {
  scene = await setScene({}, { exports: 40 });
  expect((await check('sync', '--json')).code).toBe(0);
  const { collections, webhooks } = scene.service.lists;
  collections.push('{"id":"x"}');
  Object.assign(collections[0] as object, { name: 'Other', owner: 'Zoe' });
  webhooks.splice(1, 1);
  for (const item of scene.service.lists['document-exports'] as Record<string, unknown>[])
    item.sourceDocumentVersion = `v${item.sourceDocumentVersion}`;
  expect(await check('sync', '--dry-run', '--json')).toMatchObject({
    values: [{ runId: null, receipt: null }],
  });
  expect(await check('sync', '--json')).toMatchObject({ code: 3, values: [{ status: 'partial' }] });
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('docs/json.md and the schemas', () => {
  test('are what "npm run docs:json" writes', () => {
    expect(readFileSync(jsonPath, 'utf8')).toBe(jsonText());
    expect(readdirSync(schemasFolder).sort()).toEqual(
      jsonOutputs.map(each => `${schemaName(each)}.json`).sort(),
    );
    for (const output of jsonOutputs)
      expect(readFileSync(join(schemasFolder, `${schemaName(output)}.json`), 'utf8')).toBe(
        schemaText(output),
      );
  });

  test('are there for each command that has --json', () => {
    const withJson = commandTable.filter(({ flags }) => flags.some(({ flag }) => flag === '--json'));
    const described = jsonOutputs.filter(({ command }) => command.endsWith(' --json'));
    expect(described.map(({ command }) => command).sort()).toEqual(
      withJson.map(({ name }) => `${name} --json`).sort(),
    );
  });

  test('are found by programs that use the package', async () => {
    const { default: schema } = await import('docmirror/schemas/status.json', { with: { type: 'json' } });
    expect(schema).toMatchObject({ title: 'docmirror status --json' });
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
    expect(manifest.files).toContain('schemas');
  });

  test('take fields that a later version adds', () => {
    const [output] = jsonOutputs.filter(each => schemaName(each) === 'share');
    const made = { path: 'x', runId: 1, bytes: 2, leftOut: [] };
    expect(ajv.validate(schemaOf(output as (typeof jsonOutputs)[number]), { ...made, later: 1 })).toBe(true);
    expect(ajv.validate(schemaOf(output as (typeof jsonOutputs)[number]), { ...made, bytes: 'x' })).toBe(
      false,
    );
  });
});

describe.concurrent('what commands print is as docs/json.md says', () => {
  test.each([
    [['status', '--json']],
    [['runs', '--json']],
    [['rejected', '--json']],
    [['show', 'collections', '1', '--json']],
    [['show', 'webhooks', '2', '--json']],
    [['show', 'document-exports', 'DOC-1', '--json']],
    [['show', 'connections', '1', '--json']],
    [['changes', '--format', 'ndjson', '--since-run', '0']],
    [['doctor', '--json']],
    [['verify', '--json']],
    [['verify', '--live', '--json']],
    [['audit', 'receipts', '--json']],
    [['share', 'x.sqlite', '--json']],
    [['share', 'y.sqlite', '--without', 'sourceDocumentTitle', '--without-history', '--json']],
  ])('%j', async args => {
    const { values } = await check(...args);
    expect(JSON.stringify(values)).not.toContain('"error":{"code":"settings"');
  });

  test('of a run with a share', async () => {
    await using other = await setScene({}, { exports: 2 });
    const sql = join(other.folder, 'share.sql');
    Object.assign(other.env, { DOCMIRROR_SHARE: join(other.folder, 's.sqlite'), DOCMIRROR_SHARE_SQL: sql });
    writeFileSync(sql, 'CREATE VIEW v AS SELECT 1 AS one;');
    const synced = async () => expectDocumented('sync', (await other.run('sync', '--json')).stdout)[0];
    expect(await synced()).toMatchObject({ share: { error: null } });
    writeFileSync(sql, 'SELEC');
    other.service.lists.webhooks.pop();
    expect(await synced()).toMatchObject({ share: { error: { code: 'share_failed' } } });
  });

  test('of lists that fail, and of a run that is stopped', async ({ expect }) => {
    await using other = await setScene({ status: { webhooks: 403 } }, { exports: 2 });
    const synced = async () => expectDocumented('sync', (await other.run('sync', '--json')).stdout)[0];
    expect(await synced()).toMatchObject({ status: 'partial' });
    Object.assign(other.service.options.status, { 'document-exports': 401, collections: 401 });
    expect(await synced()).toMatchObject({ status: 'failed', error: { code: 'unauthorized' } });
    other.service.options.status = {};
    other.service.options.latencyMs = 30_000;
    const asked = other.service.requests.length;
    await using running = spawnCli(['sync', '--json'], { env: other.env, cwd: other.folder });
    await expect.poll(() => other.service.requests.length, { timeout: 20_000 }).toBeGreaterThan(asked);
    running.child.kill('SIGINT');
    const stopped = await running.done;
    expect(expectDocumented('sync', stopped.stdout)).toMatchObject([{ status: 'cancelled' }]);
    other.service.options.latencyMs = 0;
    other.service.options.status = { collections: 401 };
    for (const name of ['runs', 'status', 'verify', 'doctor'])
      expectDocumented(name, (await other.run(name, '--json')).stdout);
  });

  test('of a mirror that was pruned, erased, altered and rebuilt', async () => {
    await using other = await setScene({}, { exports: 2, collections: 4 });
    const run = async (name: string, ...args: string[]) => {
      const { code, stdout } = await other.run(...args);
      return { code, values: expectDocumented(name, stdout, args.join(' ')) };
    };
    const rename = (name: string) => Object.assign(other.service.lists.collections[0] as object, { name });
    await other.sync();
    rename('A');
    await other.sync();
    await other.sync('--keep-history', '1ms');
    rename('B');
    await other.sync();
    const erased = await run('erase', 'erase', 'collections', '1', '--json');
    expect(erased).toMatchObject({ code: 0, values: [{ versions: 1, isListed: true }] });
    expect((await run('erase', 'erase', 'collections', '1', '--json')).values).toMatchObject([
      { receipt: null },
    ]);
    await run('show', 'show', 'collections', '1', '--json');
    await run('changes', 'changes', '--format', 'ndjson', '--since-run', '2');
    const file = new Database(other.database);
    file.exec("UPDATE collections SET name = 'C' WHERE id = 2");
    file.close();
    expect(await run('sync', 'sync', '--json')).toMatchObject({
      code: 4,
      values: [{ error: { code: 'mirror_altered' } }],
    });
    expect(await run('verify', 'verify', '--json')).toMatchObject({ code: 4, values: [{ ok: false }] });
    expect((await run('sync', 'sync', '--rebuild', '--json')).values).toMatchObject([{ rowsDropped: 1 }]);
    await run('verify', 'verify', '--json');
    const receipts = await run('audit-receipts', 'audit', 'receipts', '--json');
    const kinds = receipts.values.map(value => (value as { kind: string }).kind);
    expect(new Set(kinds)).toEqual(new Set(['run', 'prune', 'erase', 'rebuild']));
  });

  test('of a checkpoint, and of a service that has other records', async () => {
    await using other = await setScene({}, { exports: 2, collections: 4 });
    await other.sync();
    const checkpoint = join(other.folder, 'checkpoint');
    await other.run('audit', 'checkpoint', '--unsigned', '--out', checkpoint);
    other.service.lists.webhooks.pop();
    Object.assign(other.service.lists.collections[0] as object, { name: 'Other' });
    const { code, stdout } = await other.run('verify', '--live', '--checkpoint', checkpoint, '--json');
    expect(code).toBe(4);
    expect(expectDocumented('verify', stdout)).toMatchObject([
      { checkpoints: [{ signature: 'unchecked' }], live: { differenceCount: 2 } },
    ]);
  });

  test('of what is published', () => {
    const sent: Publication & { verified: true; durationMs: number } = {
      tenant: 'acme',
      mirrorId: 'b3a6…',
      fromRunId: null,
      throughRunId: 3,
      runs: 0,
      rows: 0,
      changes: 0,
      verified: true,
      durationMs: 5,
    };
    expectDocumented('publish-clickhouse', JSON.stringify(sent));
  });
});

describe.concurrent('an error is as docs/json.md says', () => {
  test.each([
    ['settings', ['sync', '--json', '--base-url', 'ftp://x']],
    ['settings', ['status', '--json', '--no-such-flag']],
    ['mirror_file', ['status', '--json', '--database', 'no-such-file.sqlite']],
    ['not_found', ['show', 'webhooks', '999', '--json']],
    ['mirror_file', ['verify', '--json', '--database', 'no-such-file.sqlite']],
    ['mirror_file', ['erase', 'webhooks', '1', '--json', '--database', 'no-such-file.sqlite']],
    ['settings', ['publish', 'clickhouse', '--json']],
    ['mirror_file', ['audit', 'receipts', '--json', '--database', 'no-such-file.sqlite']],
    ['settings', ['share', '/proc/no-such-folder/s.sqlite', '--json']],
  ])('%s: %j', async (code, args) => {
    const { values, ...end } = await check(...args);
    expect(values).toMatchObject([{ error: { code } }]);
    expect(end.code).toBeGreaterThan(0);
  });

  test('if another run has the mirror', async ({ expect }) => {
    await using other = await setScene({ latencyMs: 30_000 }, { exports: 2 });
    await using running = spawnCli(['sync'], { env: other.env, cwd: other.folder });
    await expect.poll(() => other.service.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
    const { code, stdout } = await other.run('sync', '--json');
    expect(code).toBe(11);
    expect(expectDocumented('sync', stdout)).toMatchObject([{ error: { code: 'mirror_busy' } }]);
    running.child.kill('SIGKILL');
  });

  test('with no secret in it', async () => {
    const { stdout } = await runCli([
      'sync',
      '--json',
      '--token',
      secret,
      '--base-url',
      `https://me:${secret}@x`,
    ]);
    expect(stdout).not.toContain(secret);
    expectDocumented('sync', stdout);
  });
});
