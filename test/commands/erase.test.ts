import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { erase } from '../../src/store/write/erase.ts';
import { tamper } from '../store/verify/tamper.ts';
import { holdRun } from '../support/held-run.ts';
import { syncScene } from '../support/in-process.ts';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene, startingFrom } from '../support/scene.ts';
import { shareOf, textsIn } from '../support/share.ts';
import { collection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

const secret = 'Confidential words of one person';
/** Long enough that it needs pages of its own. */
const longSecret = `${secret} ${'and more '.repeat(900)}`;

const cases: readonly [resource: string, id: number][] = [
  ['document-exports', 4],
  ['collections', 2],
  ['webhooks', 3],
  ['connections', 88],
];

/** A mirror whose ended versions contain the text: of a removed export, an updated collection, a removed webhook, a renamed connection. */
async function makeSecretScene(text: string): Promise<Scene> {
  const scene = await setScene({}, { exports: 30, collections: 6, webhooks: 4 });
  const { lists: at } = scene.service;
  at['document-exports'][3] = documentExport(4, { sourceDocumentTitle: `${text}1` });
  at.collections[1] = collection(2, { name: `${text}2` });
  at.webhooks[2] = webhook(3, { description: `${text}3` });
  const only = (name: string) =>
    collection(70, { sourceConnection: { id: 88, name }, destinationConnection: null });
  at.collections.push(only(`${text}4`));
  await syncScene(scene);
  at['document-exports'].splice(3, 1);
  (at.collections[1] as SampleItem).name = 'Second';
  at.webhooks.splice(2, 1);
  await syncScene(scene);
  // The record that gave the name ended before, so that no version of another list repeats it.
  at.collections.splice(-1, 1, only('Renamed'));
  await syncScene(scene);
  return scene;
}

let bases: Scene[];
let longScene: () => Scene;
let secretScene: () => Scene;
beforeAll(async () => {
  bases = [await makeSecretScene(longSecret), await makeSecretScene('Secret ')];
  [longScene, secretScene] = bases.map(startingFrom) as [() => Scene, () => Scene];
});
afterAll(async () => {
  for (const base of bases) await base[Symbol.asyncDispose]();
});

/** Which of the files beside a mirror, and itself, contain a text. */
function filesWith(scene: Scene, text: string): string[] {
  return readdirSync(scene.folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => textsIn(path, [text]).length > 0);
}

/** Another program that has begun to read the mirror. */
function readerOf({ database }: Scene): Database.Database {
  const reader = new Database(database, { readonly: true });
  reader.exec('BEGIN; SELECT count(*) FROM record_history');
  return reader;
}

const kinds = ({ database }: Scene) =>
  sqlite(database, "SELECT receipt ->> '$.kind' AS kind FROM sync_receipts ORDER BY leaf_index").map(
    ({ kind }) => kind,
  );

describe('erase', () => {
  test('leaves the text of a record nowhere in the mirror or beside it, and the mirror is sound', async () => {
    await using scene = longScene();
    for (const [at, [resource, id]] of cases.entries()) {
      const text = `and more ${at + 1}`;
      expect(filesWith(scene, text), resource).not.toEqual([]);
      const { code, stdout } = await scene.run('erase', resource, `${id}`);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining(`Erased for good: the text of 1 ended version`),
      });
      expect(filesWith(scene, text), resource).toEqual([]);
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
      expect(existsSync(`${scene.database}-wal`)).toBe(false);
    }
    expect(filesWith(scene, secret)).toEqual([]);
    expect(kinds(scene)).toEqual(['run', 'run', 'run', 'erase', 'erase', 'erase', 'erase']);
  });

  test('is said by exports, changes and show, in every format', async () => {
    await using scene = secretScene();
    for (const [resource, id] of cases) await scene.run('erase', resource, `${id}`);
    const changes = (...args: string[]) => scene.run('changes', '--since-run', '0', ...args);
    expect(await changes()).toMatchObject({ code: 0, stdout: expect.stringContaining('erased') });
    expect(await changes('--format', 'csv')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('erased'),
    });
    const lines = (await changes('--format', 'ndjson')).stdout.trimEnd().split('\n');
    const erased = lines
      .map(line => JSON.parse(line))
      .filter(({ record }) => record === null)
      .map(({ resource, recordId, operation }) => [resource, recordId, operation].join(' '));
    expect(erased).toContain('document-exports 4 insert');
    expect(erased).toContain('document-exports 4 removal');
    expect(erased).toContain('collections 2 insert');
    expect(erased).toContain('webhooks 3 removal');
    expect(erased).toContain('connections 88 insert');
    for (const [resource, id] of cases)
      expect(await scene.run('show', resource, `${id}`)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('the text was erased'),
      });
    expect(await scene.run('export', '--out', 'now')).toMatchObject({ code: 0, stderr: '' });
    expect(await scene.run('export', '--out', 'then', '--as-of-run', '1')).toMatchObject({
      code: 0,
      stderr: 'Left out: 4 records as they were then, because their text was erased since.\n',
    });
    expect(filesWith(scene, 'Secret ')).toEqual([]);
  });

  test('of a record that has no text any more writes no receipt', async () => {
    await using scene = secretScene();
    await scene.run('erase', 'collections', '2');
    const before = kinds(scene);
    const { code, stdout } = await scene.run('erase', 'collections', '2');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('has no text of ended versions or rejected records any more'),
    });
    expect(kinds(scene)).toEqual(before);
  });

  test('leaves what the service still lists, and says so', async () => {
    await using scene = secretScene();
    const { code, stdout } = await scene.run('erase', 'collections', '2', '--json', '--actor', 'law');
    expect(code).toBe(0);
    const actors = "SELECT receipt ->> '$.actor' AS actor FROM sync_receipts ORDER BY leaf_index DESC";
    expect(sqlite(scene.database, actors)[0]).toEqual({ actor: 'law' });
    expect(JSON.parse(stdout)).toMatchObject({
      resource: 'collections',
      recordId: 2,
      versions: 1,
      isListed: true,
    });
    expect(sqlite(scene.database, 'SELECT name FROM collections WHERE id = 2')).toEqual([{ name: 'Second' }]);
    expect((await syncScene(scene)).of('collections')).toMatchObject({
      inserted: 0,
      updated: 0,
      unchanged: 7,
    });
  });

  test('erases the text of rejected records, too', async () => {
    await using scene = secretScene();
    scene.service.lists.webhooks.push(`{"id":3,"events":"${secret}"}`);
    expect(await syncScene(scene)).toMatchObject({ code: 3 });
    expect(filesWith(scene, secret)).not.toEqual([]);
    const { stdout } = await scene.run('erase', 'webhooks', '3', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ versions: 1, rejectedRecords: 1 });
    expect(kinds(scene).slice(-2)).toEqual(['erase', 'erase']);
    expect(filesWith(scene, secret)).toEqual([]);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('erases the text of one rejected record that has no id, and leaves the others', async () => {
    await using scene = await setScene({}, { exports: 1, webhooks: 1 });
    scene.service.lists.webhooks.push(`{"name":"${secret}"}`, `{"id":"x","name":"stays"}`);
    expect(await syncScene(scene)).toMatchObject({ code: 3 });
    const { code, stdout } = await scene.run('erase', 'rejected-records', '1');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Erased for good: the text of 1 rejected record.*\nReceipt 1 says so\./),
    });
    expect(filesWith(scene, secret)).toEqual([]);
    const texts = sqlite(scene.database, 'SELECT id, record FROM rejected_records');
    expect(texts).toEqual([
      { id: 1, record: null },
      { id: 2, record: '{"id":"x","name":"stays"}' },
    ]);
    const [, text] = sqlite(scene.database, 'SELECT receipt FROM sync_receipts');
    expect(JSON.parse(String(text?.receipt))).toMatchObject({
      resource: 'rejected-records',
      recordId: 1,
      versions: 0,
      ended: [],
    });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    expect((await scene.run('audit', 'receipts')).stdout).toContain(
      'rejected-records 1: the text was erased',
    );
    expect(await scene.run('erase', 'rejected-records', '3')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no rejected-records 3'),
    });
    expect(await syncScene(scene)).toMatchObject({ code: 3 });
    expect(filesWith(scene, secret)).toEqual([]);
  });

  test.each([
    [['collections', '999'], 1, 'has no collections 999, and never had'],
    [['collections', 'x'], 2, 'expected a record'],
    [['nothing', '1'], 2, 'nothing'],
  ])('refuses %j', async (args, code, words) => {
    await using scene = await setScene({}, { exports: 1 });
    await syncScene(scene);
    const before = readFileSync(scene.database);
    expect(await scene.run('erase', ...args)).toMatchObject({ code, stderr: expect.stringContaining(words) });
    expect(readFileSync(scene.database).equals(before)).toBe(true);
  });

  test('ends with 11 during a run', async () => {
    await using scene = secretScene();
    await using run = await holdRun(scene, 'webhooks');
    expect(await scene.run('erase', 'collections', '2')).toMatchObject({ code: 11 });
    await run.release();
    expect(await scene.run('erase', 'collections', '2')).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('says so if another program keeps old text in the files, and is complete when it is run again', async () => {
    await using scene = longScene();
    const reader = readerOf(scene);
    const { code, stdout, stderr } = await scene.run('erase', 'collections', '2');
    expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({
      code: 1,
      stdout: '',
      lines: 1,
    });
    expect(stderr).toMatch(/another program.*Run "docmirror erase" again/);
    const erase3 = () =>
      erase(scene.database, { resource: 'webhooks', recordId: 3, actor: '', at: '2026-01-01T00:00:00.000Z' });
    expect(erase3).toThrow(expect.objectContaining({ code: 'database_locked', exitCode: 1 }));
    expect(filesWith(scene, 'and more 2')).not.toEqual([]);
    reader.close();
    expect(await scene.run('erase', 'collections', '2')).toMatchObject({ code: 0 });
    expect(filesWith(scene, 'and more 2')).toEqual([]);
    expect(filesWith(scene, 'and more 3')).toEqual([]);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('that is killed after its receipt is completed by the next run', async () => {
    await using scene = longScene();
    const reader = readerOf(scene);
    await using killed = spawnCli(['erase', 'collections', '2'], { env: scene.env });
    while (!kinds(scene).includes('erase')) await wait(5);
    killed.child.kill('SIGKILL');
    expect(await killed.done).toMatchObject({ signal: 'SIGKILL' });
    reader.close();
    expect(filesWith(scene, 'and more 2')).not.toEqual([]);
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(filesWith(scene, 'and more 2')).toEqual([]);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test.each([
    ['another text', `UPDATE record_history SET record = '{"id":2}' WHERE resource = 'collections'`],
    ['another content', "UPDATE record_history SET content = zeroblob(16) WHERE resource = 'collections'"],
    ['a run that ended it', "UPDATE record_history SET valid_from_run_id = 2 WHERE resource = 'collections'"],
  ])('refuses a mirror whose history was altered, and writes nothing: %s', async (_what, sql) => {
    await using scene = secretScene();
    tamper(scene.database, sql);
    const rows = () => sqlite(scene.database, 'SELECT * FROM record_history');
    const before = { rows: rows(), kinds: kinds(scene) };
    const { code, stderr } = await scene.run('erase', 'collections', '2');
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining('altered the history of collections'),
    });
    expect({ rows: rows(), kinds: kinds(scene) }).toEqual(before);
  });

  test('does not hide from the next run that another program altered a list', async () => {
    await using scene = secretScene();
    tamper(scene.database, "UPDATE collections SET name = 'other' WHERE id = 3");
    expect(await scene.run('erase', 'collections', '2')).toMatchObject({ code: 0 });
    expect(await scene.run('sync')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('its collections are not'),
    });
  });
});

test('erases versions from before a rebuild, also if others that the same run ended are gone', async () => {
  await using scene = secretScene();
  tamper(scene.database, "DELETE FROM record_history WHERE resource = 'collections' AND record_id <> 2");
  tamper(scene.database, "UPDATE record_history SET first_seen_run_id = 2 WHERE resource = 'webhooks'");
  expect(await scene.run('erase', 'webhooks', '3')).toMatchObject({ code: 4 });
  expect(await scene.run('sync', '--rebuild')).toMatchObject({ code: 0 });
  expect(await scene.run('erase', 'webhooks', '3')).toMatchObject({ code: 0 });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

describe('verify', () => {
  test('compares the texts that are missing with the receipts, and says how many were erased', async () => {
    await using scene = secretScene();
    scene.service.lists.webhooks.push(`{"name":"${secret}"}`, '{"name":"other"}');
    await syncScene(scene);
    await scene.run('erase', 'collections', '2');
    await scene.run('erase', 'rejected-records', '1');
    const { code, stdout } = await scene.run('verify');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('only the content is left: 2 texts.'),
    });
    const version = sqlite(
      scene.database,
      "SELECT * FROM record_history WHERE resource = 'collections' AND record_id = 2",
    );
    expect(version).toHaveLength(1);
    for (const [sql, words] of [
      [
        "UPDATE record_history SET record = NULL WHERE resource = 'webhooks'",
        'webhooks 3: the text is missing, and no receipt',
      ],
      [
        'UPDATE rejected_records SET record = NULL',
        'rejected_records 2: the text is missing, and no receipt',
      ],
      [
        "DELETE FROM record_history WHERE resource = 'collections' AND record_id = 2",
        'run 2: collections: ended is',
      ],
    ] as const) {
      const path = join(scene.folder, 'altered.sqlite');
      expect(await scene.run('backup', path)).toMatchObject({ code: 0 });
      tamper(path, sql);
      const altered = await scene.run('verify', '--database', path);
      expect(altered).toMatchObject({ code: 4, stdout: expect.stringContaining(words) });
    }
  });
});

test('after an erase runs go on, copies do not contain the text, and all is sound', async () => {
  await using scene = secretScene();
  for (const [resource, id] of cases)
    expect(await scene.run('erase', resource, `${id}`)).toMatchObject({ code: 0 });
  (scene.service.lists.collections[0] as SampleItem).name = 'After';
  expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
  await shareOf(scene);
  const backup = join(scene.folder, 'backup.sqlite');
  expect(await scene.run('backup', backup)).toMatchObject({ code: 0 });
  expect(filesWith(scene, 'Secret ')).toEqual([]);
  expect(await scene.run('verify', '--database', backup)).toMatchObject({ code: 0 });

  for (const _ of [1, 2])
    expect(await scene.sync('--keep-history', '1ms')).toMatchObject({ code: 0, status: 'completed' });
  expect(sqlite(scene.database, 'SELECT * FROM record_history')).toEqual([]);
  expect(await scene.run('backup', '--restore', backup)).toMatchObject({ code: 0 });
  expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});
