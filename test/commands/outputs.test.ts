import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outputFlags, schemaOf } from '../../build/package-files.ts';
import { flagsOf } from '../../src/commands/command.ts';
import { loadCommands } from '../../src/commands/index.ts';
import { exact } from '../../src/contract/shapes.ts';
import { outputs } from '../../src/render/outputs.ts';
import { spawnCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

const ajv = new Ajv({ allowUnionTypes: true, strict: false });
// With `exact`, a field that is not declared is a fault.
const validators = new Map(Object.keys(outputs).map(name => [name, ajv.compile(exact(schemaOf(name)))]));

/** Expects that each line is as the schema of the package says. */
function expectDeclared(name: string, stdout: string): unknown[] {
  const values = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  const validate = validators.get(name);
  for (const value of values) expect([name, validate?.(value), validate?.errors]).toEqual([name, true, null]);
  return values;
}

/** Runs a command, and expects its output to be as declared. */
async function run(scene: Scene, ...args: string[]): Promise<{ code: number | null; values: unknown[] }> {
  const { code, stdout } = await scene.run(...args);
  const [first = '', second] = args;
  const name = first in outputs ? first : `${first} ${second}`;
  return { code, values: expectDeclared(name, stdout) };
}

const rename = (scene: Scene, name: string) =>
  Object.assign(scene.service.lists.collections[0] as object, { name });

test('an output is declared for each command that has --json', async () => {
  const withJson = (await loadCommands()).filter(({ command }) => flagsOf(command).has('--json'));
  const declared = Object.keys(outputs).filter(name => outputFlags(name) === '--json');
  expect(declared.sort()).toEqual(withJson.map(({ name }) => name).sort());
});

test('a schema takes fields that a later version adds, and no wrong ones', () => {
  const validate = ajv.compile(schemaOf('share'));
  const made = { path: 'x', runId: 1, bytes: 2, leftOut: [] };
  expect([validate({ ...made, later: 1 }), validate({ ...made, bytes: 'x' })]).toEqual([true, false]);
});

describe('an output is as its schema says', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await setScene({}, { exports: 40 });
    expect((await run(scene, 'sync', '--json')).code).toBe(0);
    const { collections, webhooks, 'document-exports': exports } = scene.service.lists;
    collections.push('{"id":"x"}');
    Object.assign(collections[0] as object, { name: 'Other', owner: 'Zoe', serial: 5 });
    webhooks.splice(1, 1);
    for (const item of exports as Record<string, unknown>[])
      item.sourceDocumentVersion = `v${item.sourceDocumentVersion}`;
    expect(await run(scene, 'sync', '--dry-run', '--json')).toMatchObject({
      values: [{ runId: null, receipt: null }],
    });
    expect(await run(scene, 'sync', '--json')).toMatchObject({ code: 3, values: [{ status: 'partial' }] });
    expect((await run(scene, 'backup', 'copy.sqlite', '--json')).code).toBe(0);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  // Some of them take the mirror's lock.
  test.each([
    'status --json',
    'status mirror.sqlite no-such-file.sqlite --json',
    'runs --json',
    'service --format json',
    'rejected --json',
    'show collections 1 --json',
    'show webhooks 2 --json',
    'show document-exports DOC-1 --json',
    'show connections 1 --json',
    'changes --format ndjson --since-run 0',
    'doctor --json',
    'verify --json',
    'verify --live --wait 30s --json',
    'audit receipts --json',
    'share x.sqlite --wait 30s --json',
    'share y.sqlite --wait 30s --without sourceDocumentTitle --without-history --json',
    'backup --list . --json',
    'backup --check copy.sqlite --json',
    'backup --restore copy.sqlite --database other.sqlite --json',
  ])('%s', async words => {
    const { values } = await run(scene, ...words.split(' '));
    expect(values).not.toMatchObject([{ error: { code: expect.anything() } }]);
  });

  test('with labels', async () => {
    const { values } = await run(scene, 'verify', '--json', '--labels', 'site=north');
    expect(values).toMatchObject([{ labels: { site: 'north' } }]);
  });

  test('with no secret in it', async () => {
    const secret = 'a-secret-that-nobody-sees';
    const place = ['--token', secret, '--base-url', `https://me:${secret}@x`];
    expect(JSON.stringify(await run(scene, 'sync', '--json', ...place))).not.toContain(secret);
  });
});

test('the output of a run with a share', async () => {
  await using scene = await setScene({}, { exports: 2 });
  const sql = join(scene.folder, 'share.sql');
  Object.assign(scene.env, { DOCMIRROR_SHARE: join(scene.folder, 's.sqlite'), DOCMIRROR_SHARE_SQL: sql });
  writeFileSync(sql, 'CREATE VIEW v AS SELECT 1 AS one;');
  expect((await run(scene, 'sync', '--json')).values).toMatchObject([{ share: { error: null } }]);
  writeFileSync(sql, 'SELEC');
  scene.service.lists.webhooks.pop();
  const failed = { share: { error: { code: 'share_failed' } } };
  expect((await run(scene, 'sync', '--json')).values).toMatchObject([failed]);
});

test('the output of lists that fail, of a run that is stopped, and of one that has to wait', async () => {
  await using scene = await setScene({ status: { webhooks: 403 } }, { exports: 2 });
  const { options } = scene.service;
  expect((await run(scene, 'sync', '--json')).values).toMatchObject([{ status: 'partial' }]);
  Object.assign(options.status, { 'document-exports': 401, collections: 401 });
  const refused = { status: 'failed', error: { code: 'unauthorized' } };
  expect((await run(scene, 'sync', '--json')).values).toMatchObject([refused]);
  options.status = {};
  options.latencyMs = 30_000;
  const asked = scene.service.requests.length;
  await using running = spawnCli(['sync', '--json'], { env: scene.env, cwd: scene.folder });
  await expect.poll(() => scene.service.requests.length, { timeout: 20_000 }).toBeGreaterThan(asked);
  const busy = { code: 11, values: [{ error: { code: 'mirror_busy' } }] };
  expect(await run(scene, 'sync', '--json')).toMatchObject(busy);
  running.child.kill('SIGINT');
  expect(expectDeclared('sync', (await running.done).stdout)).toMatchObject([{ status: 'cancelled' }]);
  options.latencyMs = 0;
  options.status = { collections: 401 };
  scene.env.DOCMIRROR_GIVE_UP_AFTER = '0';
  for (const name of ['runs', 'status', 'verify', 'doctor']) await run(scene, name, '--json');
});

test('the output of a mirror that was pruned, erased, altered and rebuilt', async () => {
  await using scene = await setScene({}, { exports: 2, collections: 4 });
  await scene.sync();
  rename(scene, 'A');
  await scene.sync();
  for (const versionsPruned of [0, 1]) {
    const pruned = await run(scene, 'sync', '--keep-history', '1ms', '--json');
    expect(pruned).toMatchObject({ values: [{ versionsPruned }] });
  }
  rename(scene, 'B');
  await scene.sync();
  const erased = { code: 0, values: [{ versions: 1, isListed: true }] };
  expect(await run(scene, 'erase', 'collections', '1', '--json')).toMatchObject(erased);
  const nothing = { values: [{ receipt: null }] };
  expect(await run(scene, 'erase', 'collections', '1', '--json')).toMatchObject(nothing);
  await run(scene, 'show', 'collections', '1', '--json');
  await run(scene, 'changes', '--format', 'ndjson', '--since-run', '2');
  const file = new Database(scene.database);
  file.exec("UPDATE collections SET name = 'C' WHERE id = 2");
  file.close();
  const altered = { code: 4, values: [{ error: { code: 'mirror_altered' } }] };
  expect(await run(scene, 'sync', '--json')).toMatchObject(altered);
  expect(await run(scene, 'verify', '--json')).toMatchObject({ code: 4, values: [{ ok: false }] });
  expect(await run(scene, 'sync', '--rebuild', '--json')).toMatchObject({ values: [{ rowsDropped: 1 }] });
  await run(scene, 'verify', '--json');
  const { values } = await run(scene, 'audit', 'receipts', '--json');
  const kinds = new Set(values.map(value => (value as { kind: string }).kind));
  expect(kinds).toEqual(new Set(['run', 'prune', 'erase', 'rebuild']));
});

test('the output of a comparison with a checkpoint and with a service that has other records', async () => {
  await using scene = await setScene({}, { exports: 2, collections: 4 });
  await scene.sync();
  await scene.run('audit', 'checkpoint', '--unsigned', '--out', 'checkpoint');
  scene.service.lists.webhooks.pop();
  rename(scene, 'Other');
  const found = { checkpoints: [{ signature: 'unchecked' }], live: { differenceCount: 2 } };
  expect(await run(scene, 'verify', '--live', '--checkpoint', 'checkpoint', '--json')).toMatchObject({
    code: 4,
    values: [found],
  });
});
