import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openForWriting } from '../../../src/store/file/open-to-write.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { holdRun } from '../../support/held-run.ts';
import { temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene, startingFrom } from '../../support/scene.ts';
import { collection, documentExport, type SampleItem, webhook } from '../../support/stand-in.ts';

/** Three runs that leave every kind of history: updates, removals, a return, a renamed connection. */
async function threeRuns(): Promise<Scene> {
  const scene = await setScene({}, { exports: 40, collections: 6, webhooks: 4 });
  const { lists: at } = scene.service;
  at['document-exports'].push(documentExport(500), documentExport(500));
  await scene.sync();
  (at['document-exports'][3] as SampleItem).sourceDocumentTitle = 'Second';
  (at.collections[1] as SampleItem).name = 'Second';
  (at.collections[2] as SampleItem).sourceConnection = { id: 77, name: 'Only here' };
  const gone = at.collections.splice(0, 1);
  at.webhooks.splice(0, 1);
  await scene.sync();
  at.collections.push(...gone);
  (at.collections[0] as SampleItem).name = 'Third';
  (at.collections[1] as SampleItem).sourceConnection = { id: 77, name: 'Renamed' };
  await scene.sync();
  return scene;
}

/** One run, in which one connection is known by one collection alone. */
async function makeOneRun(): Promise<Scene> {
  const own = await setScene({}, { exports: 40, collections: 6, webhooks: 4 });
  own.service.lists['document-exports'].push(documentExport(500), documentExport(500));
  own.service.lists.collections.push(collection(90, { sourceConnection: { id: 77, name: 'Renamed' } }));
  await own.sync();
  return own;
}

let scene: Scene;
beforeAll(async () => {
  scene = await threeRuns();
});
afterAll(() => scene[Symbol.asyncDispose]());

function tamper(path: string, sql: string): void {
  const database = new Database(path);
  database.unsafeMode(true);
  database.pragma('foreign_keys = OFF');
  database.exec(sql);
  database.close();
}

const signal = new AbortController().signal;

/** The differences that the audit finds in an altered copy of the mirror, a line each. */
async function differencesAfter(sql: string): Promise<string[]> {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'copy.sqlite');
  copyFileSync(scene.database, path);
  tamper(path, sql);
  const { differences } = await verifyMirror(path, { limit: 100, signal });
  return differences.map(({ table, id, what }) => `${table} ${id}: ${what}`);
}

describe('what others changed is found and named', () => {
  test('nothing was changed', async () => {
    expect(await differencesAfter('')).toEqual([]);
  });

  const extra = (text: string) => `UPDATE collections SET _extra = '${text}' WHERE id = 3`;
  const history = (set: string, resource: string) =>
    `UPDATE record_history SET ${set} WHERE resource = '${resource}'`;
  const notNormal = 'collections 3: a value was changed';
  const missing = (row: string, run: number) => `${row}: the version that run ${run} ended is missing`;
  const endedOf = (run: number, list: string) => `sync_receipts ${run - 1}: run ${run}: ${list}: ended is "`;
  const changesOf = (run: number, list: string) =>
    `sync_receipts ${run - 1}: run ${run}: ${list}: changes is "`;

  /** Statements, and parts of what is then said. */
  const alterations: Readonly<Record<string, readonly [sql: string, ...said: string[]]>> = {
    'a value': [
      "UPDATE collections SET name = 'x' WHERE id = 3",
      'collections 3: a value was changed',
      'collections null: 6 rows with the checksum ',
    ],
    'a repeated further field': [extra('{"amount":999,"amount":100}'), notNormal],
    'the name of a connection': [
      "UPDATE connections SET name = 'x' WHERE id = 2",
      'connections 2: a value was changed',
    ],
    'an event of a webhook': [
      "UPDATE webhook_events SET event = 'x' WHERE webhook_id = 3",
      'webhooks 3: a value',
    ],
    'a gap among the events of a webhook': [
      'UPDATE webhook_events SET position = position + 1 WHERE webhook_id = 3 AND position = (SELECT max(position) FROM webhook_events WHERE webhook_id = 3)',
      'webhook_events 3: the positions have a gap',
    ],
    'a deleted row': [
      'DELETE FROM document_exports WHERE id = 5',
      'document_exports null: 41 rows with',
      changesOf(1, 'document-exports'),
    ],
    'an added row': [
      'INSERT INTO collections (id, _first_seen_run_id, _changed_run_id, _content) VALUES (99, 1, 1, zeroblob(16))',
      'collections 99: ',
      'collections null: 7 rows',
    ],
    'which run changed a row': [
      'UPDATE collections SET _changed_run_id = 3 WHERE id = 4',
      missing('collections 4', 3),
      changesOf(3, 'collections'),
    ],
    'a history that is gone': [
      "DELETE FROM record_history WHERE resource = 'document-exports'",
      missing('document_exports 4', 2),
      endedOf(2, 'document-exports'),
      'document_exports null: rows and history have more or less than the runs wrote',
    ],
    'a record in the history': [history("record = '{}'", 'webhooks'), endedOf(2, 'webhooks')],
    'how a version ended': [history("ended_by = 'update'", 'webhooks'), endedOf(2, 'webhooks')],
    "a run's counts": [
      "UPDATE sync_run_resources SET inserted = 1 WHERE run_id = 1 AND resource = 'webhooks'",
      'run 1: books is "',
      'run 1: webhooks: inserted is 4 in the receipt, but 1 by the tables',
    ],
    "a run's record": [
      'DELETE FROM sync_runs WHERE id = 2',
      'sync_receipts 1: it names run 2, which does not exist',
    ],
    'a rejected record': [
      `INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record, content)
         VALUES (1, 1, 'webhooks', 1, 1, 'x', 'x', zeroblob(16))`,
      'rejected_records 1: the text and its content disagree',
      'run 1: rejected is {"count":0',
    ],
    'what a run has learnt': [
      "UPDATE _list_states SET state = '{}' WHERE resource = 'collections'",
      '_list_states null: collections: the row was changed',
    ],
    'a page that a run has noted': [
      "UPDATE _known_pages SET rows = '[[1,1]]' WHERE resource = 'collections'",
      '_known_pages null: collections: the row was changed',
    ],
    'the list of changes of shape': [
      'DELETE FROM __drizzle_migrations',
      'the changes of shape it lists are not those',
    ],
    'a table': ['DROP TABLE webhook_events', 'webhook_events null: the table is missing'],
    'a column': ['ALTER TABLE webhooks ADD COLUMN odd TEXT', 'webhooks null: the table is not as'],
    'an index': ['DROP INDEX webhook_events_event', 'webhook_events_event null: the index is missing'],
    'a trigger that was added': [
      'CREATE TRIGGER odd AFTER INSERT ON webhooks BEGIN DELETE FROM collections; END',
      'odd null: docmirror did not make this trigger',
    ],
    'a view that was replaced': [
      'DROP VIEW changes; CREATE VIEW changes AS SELECT 1 AS run_id',
      'changes null: the view is not as docmirror makes it',
    ],
  };

  test.each(Object.entries(alterations))('%s', async (_name, [sql, ...said]) => {
    const found = (await differencesAfter(sql)).join('\n');
    for (const words of said) expect(found).toContain(words);
  });
});

describe('verify', () => {
  test('a sound mirror exits 0, is not touched, and has nothing left beside it', async () => {
    const files = ['mirror.sqlite', 'mirror.sqlite.lock'];
    const at = statSync(scene.database).mtimeMs;
    const { code, stdout } = await scene.run('verify');
    expect(stdout).toMatch(/is sound: 9 connections, \d versions in the history, 3 runs\.\n$/);
    expect(code).toBe(0);
    const json = await scene.run('verify', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: true,
      differenceCount: 0,
      differences: [],
      live: null,
      runCount: 3,
    });
    expect({ files: readdirSync(scene.folder), at: statSync(scene.database).mtimeMs }).toEqual({ files, at });
  });

  test('a difference exits 4 and has a line; of many as many are listed as asked for', async () => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'copy.sqlite');
    copyFileSync(scene.database, path);
    tamper(path, "UPDATE document_exports SET source_document_title = 'x'");
    const { code, stdout } = await scene.run('verify', '--database', path, '--limit', '3');
    expect(code).toBe(4);
    expect(stdout).toContain(
      'is NOT as docmirror wrote it: 43 differences.\n  document_exports 1: a value was changed',
    );
    expect(stdout).toContain('… and 40 more; --limit shows them');
    const json = await scene.run('verify', '--database', path, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      differenceCount: 43,
      differences: { length: 43 },
    });
  });

  test('damage to the file is a difference, however much of it is left', async () => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'copy.sqlite');
    const whole = statSync(scene.database).size;
    for (const size of [0, 600, 4096, Math.floor(whole / 2), whole - 1]) {
      copyFileSync(scene.database, path);
      truncateSync(path, size);
      const { differenceCount } = await verifyMirror(path, { limit: 5, signal });
      expect(differenceCount, `${size} of ${whole} bytes`).toBeGreaterThan(0);
    }
    const truncated = await scene.run('verify', '--database', path);
    expect(truncated).toMatchObject({ code: 4 });
    writeFileSync(path, 'no database at all');
    expect(await scene.run('verify', '--database', path)).toMatchObject({ code: 4 });
  });

  test('no mirror is an error; a mirror without a run is sound', async () => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'none.sqlite');
    expect(await scene.run('verify', '--database', path)).toMatchObject({ code: 1, stdout: '' });
    expect(await scene.run('verify', '--limit', '0')).toMatchObject({ code: 2 });
    openForWriting(path).close();
    expect(await scene.run('verify', '--database', path)).toMatchObject({ code: 0 });
  });
});

describe('verify --live', () => {
  let base: Scene;
  let oneRun: () => Scene;
  beforeAll(async () => {
    base = await makeOneRun();
    oneRun = startingFrom(base);
  });
  afterAll(() => base[Symbol.asyncDispose]());

  test('the service and the mirror are alike, and nothing is written', async () => {
    await using own = oneRun();
    const bytes = readFileSync(own.database);
    const { code, stdout } = await own.run('verify', '--live');
    expect(stdout).toContain('The mirror is what the service lists, record for record.\n');
    expect(code).toBe(0);
    expect(readFileSync(own.database).equals(bytes)).toBe(true);
    expect(readdirSync(own.folder)).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
  });

  test('what is missing, extra and different is named, with both values and without secrets', async () => {
    await using own = oneRun();
    const { lists: at } = own.service;
    at.collections.push(collection(200));
    at['document-exports'].splice(10, 1);
    at['document-exports'].push(documentExport(500, { sourceDocumentTitle: 'A third twin' }));
    at.webhooks[1] = webhook(2, {
      endpoint: 'https://hooks.example.com/new?key=another-secret',
      events: ['x'],
    });
    const { code, stdout } = await own.run('verify', '--live');
    expect(code).toBe(4);
    expect(stdout).toContain('The mirror is not what the service lists: 4 differences.');
    expect(stdout).toContain('  collections 200: missing from the mirror\n');
    expect(stdout).toMatch(/ {2}document-exports .* · DOC-11 · .*: not at the service\n/);
    expect(stdout).toMatch(/ {2}document-exports .* · DOC-500 · .*: missing from the mirror\n/);
    expect(stdout).toContain(
      '  webhooks 2: different\n    endpoint: "https://hooks.example.com/…" in the mirror, "https://hooks.example.com/…" at the service, in a part that is not shown\n',
    );
    expect(stdout).not.toContain('secret');
    const json = await own.run('verify', '--live', '--json', '--limit', '1');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      differenceCount: 0,
      live: { isProven: true, differenceCount: 4, differences: { length: 1 } },
    });
  });

  test('what could not be compared is said, and is no success', async () => {
    await using own = oneRun();
    own.service.options.status = { webhooks: 404 };
    const failed = await own.run('verify', '--live', '--give-up-after', '0');
    expect(failed).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('webhooks could not be compared: '),
    });
    own.service.options.status = {};
    own.service.options.totalError = 1;
    expect(await own.run('verify', '--live')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('the readings proved nothing'),
    });
    expect(await own.run('verify', '--live', '--token', 'wrong')).toMatchObject({
      code: 12,
      stdout: expect.stringContaining('but not all of it could be compared.\n'),
    });
    expect(await own.run('verify', '--live', '--base-url', 'nowhere')).toMatchObject({ code: 2 });
  });

  test('during a run, it says so, and the mirror alone can be checked', async () => {
    await using own = oneRun();
    await using held = await holdRun(own, 'webhooks');
    expect(await own.run('verify', '--live')).toMatchObject({
      code: 11,
      stderr: expect.stringMatching(/Run 2 has been using .* Wait until it is done/),
    });
    expect(await own.run('verify')).toMatchObject({ code: 0 });
    const waiting = own.run('verify', '--live', '--wait', '40s');
    await Promise.race([waiting, wait(1_000)]);
    await held.release();
    expect(await waiting).toMatchObject({ code: 0 });
  });
});
