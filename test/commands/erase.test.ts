import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revisionOf } from '../../src/store/read/runs/freshness.ts';
import { readMirror } from '../../src/store/read/sqlite.ts';
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

const cases: readonly [resource: string, id: string][] = [
  ['document-exports', '4'],
  ['collections', '2'],
  ['webhooks', '3'],
  ['connections', '88'],
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

/** Runs a command and expects that it ends so and says this. */
async function expectRun(scene: Scene, command: string, code: number, words = ''): Promise<void> {
  const { stdout, stderr, ...ended } = await scene.run(...command.split(' '));
  expect({ code: ended.code, said: stdout + stderr }).toEqual({ code, said: expect.stringContaining(words) });
}

describe('erase', () => {
  test('leaves the text of a record nowhere in the mirror or beside it, and the mirror is sound', async () => {
    await using scene = longScene();
    for (const [at, [resource, id]] of cases.entries()) {
      const text = `and more ${at + 1}`;
      expect(filesWith(scene, text), resource).not.toEqual([]);
      await expectRun(scene, `erase ${resource} ${id}`, 0, 'Erased for good: the text of 1 ended version');
      expect(filesWith(scene, text), resource).toEqual([]);
      await expectRun(scene, 'verify', 0);
      expect(existsSync(`${scene.database}-wal`)).toBe(false);
    }
    expect(filesWith(scene, secret)).toEqual([]);
    expect(kinds(scene)).toEqual(['run', 'run', 'run', 'erase', 'erase', 'erase', 'erase']);
  });

  test('is said by exports, changes and show, runs go on, and no copy has the text', async () => {
    await using scene = secretScene();
    for (const [resource, id] of cases) await expectRun(scene, `erase ${resource} ${id}`, 0);
    for (const format of ['', ' --format csv'])
      await expectRun(scene, `changes --since-run 0${format}`, 0, 'erased');
    const { stdout } = await scene.run('changes', '--since-run', '0', '--format', 'ndjson');
    const erased = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
      .filter(({ record }) => record === null)
      .map(({ resource, recordId, operation }) => [resource, recordId, operation].join(' '));
    for (const change of ['document-exports 4 insert', 'document-exports 4 removal', 'connections 88 insert'])
      expect(erased).toContain(change);
    for (const [resource, id] of cases)
      await expectRun(scene, `show ${resource} ${id}`, 0, 'the text was erased');
    await expectRun(scene, 'export --out now', 0);
    const left = 'Left out: 4 records as of then, because the text was erased since.\n';
    await expectRun(scene, 'export --out then --as-of-run 1', 0, left);

    (scene.service.lists.collections[0] as SampleItem).name = 'After';
    expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
    await shareOf(scene);
    const backup = join(scene.folder, 'backup.sqlite');
    await expectRun(scene, `backup ${backup}`, 0);
    expect(filesWith(scene, 'Secret ')).toEqual([]);
    for (const _ of [1, 2]) await expectRun(scene, 'sync --keep-history 1ms', 0);
    expect(sqlite(scene.database, 'SELECT * FROM record_history')).toEqual([]);
    await expectRun(scene, `backup --restore ${backup}`, 0);
    await expectRun(scene, 'sync', 0);
    await expectRun(scene, 'verify', 0);
  });

  test('leaves what the service still lists, and says so; a second time it writes no receipt', async () => {
    await using scene = secretScene();
    // A cache or a browser has pages with the text.
    const revision = () => readMirror(scene.database, revisionOf);
    const cached = revision();
    const { stdout } = await scene.run('erase', 'collections', '2', '--json', '--actor', 'law');
    expect(revision()).not.toBe(cached);
    expect(JSON.parse(stdout)).toMatchObject({
      resource: 'collections',
      recordId: 2,
      versions: 1,
      isListed: true,
    });
    const newest =
      "SELECT receipt ->> '$.actor' AS actor FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1";
    expect(sqlite(scene.database, newest)).toEqual([{ actor: 'law' }]);
    expect(sqlite(scene.database, 'SELECT name FROM collections WHERE id = 2')).toEqual([{ name: 'Second' }]);
    const before = kinds(scene);
    await expectRun(
      scene,
      'erase collections 2',
      0,
      'has no text of ended versions or rejected records any more',
    );
    expect(kinds(scene)).toEqual(before);
    expect((await syncScene(scene)).of('collections')).toMatchObject({
      inserted: 0,
      updated: 0,
      unchanged: 7,
    });
  });

  test('erases the text of rejected records, of a record or alone', async () => {
    await using scene = secretScene();
    const { webhooks } = scene.service.lists;
    webhooks.push(`{"id":3,"events":"${secret}"}`, `{"name":"${secret}"}`, `{"id":"x","name":"stays"}`);
    expect(await syncScene(scene)).toMatchObject({ code: 3 });
    const { stdout } = await scene.run('erase', 'webhooks', '3', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ versions: 1, rejectedRecords: 1 });
    expect(kinds(scene).slice(-2)).toEqual(['erase', 'erase']);
    await expectRun(scene, 'erase rejected-records 2', 0, '1 rejected record of');
    expect(filesWith(scene, secret)).toEqual([]);
    expect(sqlite(scene.database, 'SELECT id, record FROM rejected_records')).toEqual([
      { id: 1, record: null },
      { id: 2, record: null },
      { id: 3, record: '{"id":"x","name":"stays"}' },
    ]);
    const newest = 'SELECT receipt FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1';
    const receipt = { resource: 'rejected-records', recordId: 2, versions: 0, ended: [] };
    expect(JSON.parse(String(sqlite(scene.database, newest)[0]?.receipt))).toMatchObject(receipt);
    await expectRun(scene, 'verify', 0);
    await expectRun(scene, 'audit receipts', 0, 'rejected-records 2: the text was erased');
    await expectRun(scene, 'erase rejected-records 9', 1, 'has no rejected-records 9');
    expect(await syncScene(scene)).toMatchObject({ code: 3 });
    expect(filesWith(scene, secret)).toEqual([]);
  });

  test('refuses what it does not know, and a mirror that a run is using', async () => {
    await using scene = secretScene();
    const before = readFileSync(scene.database);
    await expectRun(scene, 'erase collections 999', 1, 'has no collections 999, and never had');
    await expectRun(scene, 'erase collections x', 2, 'expected a whole number');
    await expectRun(scene, 'erase nothing 1', 2, 'nothing');
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    await using run = await holdRun(scene, 'webhooks');
    await expectRun(scene, 'erase collections 2', 11);
    await run.release();
    await expectRun(scene, 'erase collections 2', 0);
  });

  test('says that older copies are left while another program reads the mirror, and removes them later', async () => {
    await using scene = longScene();
    const reader = readerOf(scene);
    await expectRun(scene, 'erase collections 2', 1, 'older copies of the text are still in its files');
    reader.close();
    await expectRun(scene, 'erase collections 2', 0);
    expect(filesWith(scene, 'and more 2')).toEqual([]);
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
    await expectRun(scene, 'verify', 0);
  });

  test.each([
    ['another text', `UPDATE record_history SET record = '{"id":2}' WHERE resource = 'collections'`],
    ['another content', "UPDATE record_history SET content = x'00' WHERE resource = 'collections'"],
    ['a run that ended it', "UPDATE record_history SET valid_from_run_id = 2 WHERE resource = 'collections'"],
  ])('refuses a mirror whose history was altered, and writes nothing: %s', async (_what, sql) => {
    await using scene = secretScene();
    tamper(scene.database, sql);
    const rows = () => sqlite(scene.database, 'SELECT * FROM record_history');
    const before = { rows: rows(), kinds: kinds(scene) };
    await expectRun(scene, 'erase collections 2', 4, 'altered the history of collections');
    expect({ rows: rows(), kinds: kinds(scene) }).toEqual(before);
  });
});

test('verify compares the texts that are missing with the receipts, and says how many were erased', async () => {
  await using scene = secretScene();
  scene.service.lists.webhooks.push(`{"name":"${secret}"}`, '{"name":"other"}');
  await syncScene(scene);
  await expectRun(scene, 'erase collections 2', 0);
  await expectRun(scene, 'erase rejected-records 1', 0);
  await expectRun(scene, 'verify', 0, 'only the content is left: 2 texts.');
  for (const [sql, words] of [
    [
      "UPDATE record_history SET record = NULL WHERE resource = 'webhooks'",
      'webhooks 3: the text is missing, and no receipt',
    ],
    ['UPDATE rejected_records SET record = NULL', 'rejected_records 2: the text is missing, and no receipt'],
    [
      "DELETE FROM record_history WHERE resource = 'collections' AND record_id = 2",
      'run 2: collections: ended is',
    ],
  ] as const) {
    const path = join(scene.folder, 'altered.sqlite');
    await expectRun(scene, `backup ${path}`, 0);
    tamper(path, sql);
    await expectRun(scene, `verify --database ${path}`, 4, words);
  }
});
