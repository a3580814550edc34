import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openForWriting } from '../../../src/store/file/open-to-write.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { holdRun } from '../../support/held-run.ts';
import { sqlite, temporaryFolder } from '../../support/run-cli.ts';
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

const historyId = (where: string) =>
  sqlite(scene.database, `SELECT id FROM record_history WHERE ${where} LIMIT 1`)[0]?.id as number;

describe('what others changed is found and named', () => {
  test('nothing was changed', async () => {
    expect(await differencesAfter('')).toEqual([]);
  });

  test.each<[name: string, sql: string, differences: (string | RegExp)[]]>([
    ['a value', "UPDATE collections SET name = 'x' WHERE id = 3", [/^collections 3: a value was changed/]],
    ...['{"amount":999,"amount":100}', '{"amount": 100}'].map((extra): [string, string, RegExp[]] => [
      `further fields in other words: ${extra}`,
      `UPDATE collections SET _extra = '${extra}' WHERE id = 3`,
      [/^collections 3: _extra is not as docmirror writes it/],
    ]),
    [
      'further fields that are null in JSON',
      "UPDATE collections SET _extra = 'null' WHERE id = 3",
      [/^collections 3: _extra can't be read: it is not a JSON object/],
    ],
    [
      'a connection in the history that is none',
      "UPDATE record_history SET record = '[]' WHERE resource = 'connections'",
      [/^record_history \d+: connections 77: the record and its content disagree/],
    ],
    [
      'a name that was moved among the further fields',
      "UPDATE collections SET _extra = json_object('name', name), name = NULL WHERE id = 3",
      [/^collections 3: _extra is not as docmirror writes it/],
    ],
    ...['7', '{"really":"another"}'].map((name): [string, string, RegExp[]] => [
      `a reference that was moved there, as the service could not say it: ${name}`,
      `UPDATE document_exports SET source_connection_id = NULL,
           _extra = '{"sourceConnection":{"id":' || source_connection_id || ',"name":${name}}}' WHERE id = 5`,
      [/^document_exports 5: a value was changed/],
    ]),
    [
      "a connection's name that was moved among its further fields",
      "UPDATE connections SET _extra = json_object('name', name), name = NULL WHERE id = (SELECT min(id) FROM connections)",
      [/^connections \d+: _extra is not as docmirror writes it/],
    ],
    [
      'the list of changes of shape',
      'DELETE FROM __drizzle_migrations',
      [/^__drizzle_migrations null: the changes of shape it lists are not those/],
    ],
    [
      'an event of a webhook',
      "UPDATE webhook_events SET event = 'x' WHERE webhook_id = 3 AND position = 0",
      [/^webhooks 3: a value/],
    ],
    [
      'a link of a webhook',
      'DELETE FROM webhook_connections WHERE webhook_id = 3 AND position = 1',
      [/^webhooks 3: a value/],
    ],
    [
      'a value and its content',
      "UPDATE collections SET name = 'x', _content = zeroblob(16) WHERE id = 3",
      [/^collections 3: /, /^collections null: the rows' checksum/],
    ],
    [
      'what identifies an export',
      "UPDATE document_exports SET source_document_reference = 'x' WHERE id = 5",
      [/^document_exports 5: a value/],
    ],
    [
      'a deleted row',
      'DELETE FROM document_exports WHERE id = 5',
      [
        /^document_exports null: 41 rows, but run 3 recorded 42/,
        /^sync_run_resources 1: document-exports: inserted is 42/,
      ],
    ],
    [
      'an added row',
      'INSERT INTO collections (id, name, _first_seen_run_id, _changed_run_id, _content) VALUES (99, NULL, 1, 1, zeroblob(16))',
      [/^collections 99: /, /^collections null: 7 rows/],
    ],
    [
      'a changed row whose history is gone',
      "DELETE FROM record_history WHERE resource = 'document-exports'",
      [
        /^document_exports 4: the version that run 2 ended is missing/,
        /^sync_receipts null: run 2: document-exports: ended is /,
        /^document_exports null: 1 records are of no run/,
      ],
    ],
    [
      'the name of a connection',
      "UPDATE connections SET name = 'x' WHERE id = 2",
      [/^connections 2: the row was changed/],
    ],
    [
      'a record in the history',
      "UPDATE record_history SET record = '{}' WHERE resource = 'webhooks'",
      [
        /^record_history \d+: webhooks 1: the record and its content disagree/,
        /^sync_receipts null: run 2: webhooks: ended is /,
      ],
    ],
    [
      'a record in the history, and its content',
      "UPDATE record_history SET (record, content) = (SELECT record, content FROM record_history WHERE resource = 'collections') WHERE resource = 'webhooks'",
      [
        /^sync_receipts null: run 1: webhooks: changes is /,
        /^sync_receipts null: run 2: webhooks: ended is /,
      ],
    ],
    [
      'how a version ended',
      "UPDATE record_history SET ended_by = 'update' WHERE resource = 'webhooks'",
      [
        /^record_history \d+: webhooks 1: the version that run 2 put in its place is missing/,
        /^sync_run_resources 2: webhooks: removed is 1/,
      ],
    ],
    [
      'when a version ended',
      "UPDATE record_history SET valid_to_run_id = 3 WHERE resource = 'document-exports'",
      [/^document_exports 4: it overlaps with the version that ended with run 3/],
    ],
    [
      'which run changed a row',
      'UPDATE collections SET _changed_run_id = 3 WHERE id = 4',
      [/^collections 4: the version that run 3 ended is missing/],
    ],
    [
      "a run's counts",
      "UPDATE sync_run_resources SET inserted = 1 WHERE run_id = 1 AND resource = 'webhooks'",
      [/^sync_run_resources 1: webhooks: inserted is 1, but rows and history have 4/],
    ],
    [
      "a run's record",
      'DELETE FROM sync_runs WHERE id = 2',
      [/run 2 is not recorded/, /it refers to a row of sync_runs that does not exist/],
    ],
    [
      'a rejected record',
      "INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record, content) VALUES (1, 1, 'webhooks', 1, 1, 'x', 'x', zeroblob(16))",
      [/^rejected_records 1: the text and its content disagree/, /^sync_receipts null: run 1: books is /],
    ],
    ['a table', 'DROP TABLE webhook_events', [/^webhook_events null: the table is missing/]],
    [
      'a trigger that was added',
      'CREATE TRIGGER odd AFTER INSERT ON webhooks BEGIN DELETE FROM collections; END',
      [/^odd null: docmirror did not make this trigger/],
    ],
    [
      'a space in what a view says',
      `PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET sql = replace(sql, '''never synced''', '''never  synced''') WHERE name = 'sync_status'`,
      [/^sync_status null: the view is not as docmirror makes it/],
    ],
    [
      'a trigger that is gone',
      'DROP TRIGGER sync_receipts_stay',
      [/^sync_receipts_stay null: the trigger is missing/],
    ],
    [
      'a view that was replaced',
      'DROP VIEW changes; CREATE VIEW changes AS SELECT 1 AS run_id',
      [/^changes null: the view is not as docmirror makes it/],
    ],
    ['an index', 'DROP INDEX webhook_events_event', [/^webhook_events_event null: the index is missing/]],
    ['a column', 'ALTER TABLE webhooks ADD COLUMN odd TEXT', [/^webhooks null: the table is not as/]],
    [
      'a gap among the events of a webhook',
      'UPDATE webhook_events SET position = position + 1 WHERE webhook_id = 3 AND position = (SELECT max(position) FROM webhook_events WHERE webhook_id = 3)',
      [/^webhook_events 3: the positions have a gap/],
    ],
    [
      "a run's base address",
      "UPDATE sync_runs SET base_url = 'https://other.example' WHERE id = 2",
      [
        /^sync_receipts null: run 2: books is /,
        /run 2: baseUrl is .* but "https:\/\/other.example" by the tables/,
      ],
    ],
    [
      'the runs of two rows that were swapped',
      'UPDATE collections SET _changed_run_id = iif(id = 5, 3, 1), _first_seen_run_id = iif(id = 5, 3, 1) WHERE id IN (1, 5)',
      [/run 3: collections: changes is/, /run 1: collections: changes is/],
    ],
    [
      'an upgrade that never was',
      "INSERT INTO docmirror_upgrades VALUES ('9.9.9', '2026-01-01T00:00:00.000Z')",
      [/^docmirror_upgrades null: 9\.9\.9 at .*, but the receipt says of no upgrade/],
    ],
    [
      'a page that was asked for',
      "UPDATE _pages SET used_at = '2020-01-01T00:00:00.000Z' WHERE resource = 'collections'",
      [/^_pages null: collections: a page was changed/],
    ],
  ])('%s', async (_name, sql, expected) => {
    const found = await differencesAfter(sql);
    for (const difference of expected) expect(found).toContainEqual(expect.stringMatching(difference));
  });

  test('two rows of the history that were swapped', async () => {
    const [one, other] = [
      historyId("resource = 'collections' AND record_id = 1"),
      historyId("resource = 'collections' AND record_id = 3"),
    ];
    const found = await differencesAfter(`
      UPDATE record_history SET record_id = -1 WHERE id = ${one};
      UPDATE record_history SET record_id = 1 WHERE id = ${other};
      UPDATE record_history SET record_id = 3 WHERE id = ${one};`);
    for (const difference of [
      /^collections 1: a version is missing before it, from run 2 to 3/,
      /^collections 3: the version that run 2 ended is missing from record_history/,
      /^sync_receipts null: run 2: collections: ended is /,
    ])
      expect(found).toContainEqual(expect.stringMatching(difference));
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
      'is NOT as docmirror wrote it: 44 differences.\n  document_exports 1: a value was changed',
    );
    expect(stdout).toContain('… and 41 more; --limit shows them');
    const json = await scene.run('verify', '--database', path, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      differenceCount: 44,
      differences: { length: 44 },
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

  test('a connection with another name is named', async () => {
    await using own = oneRun();
    for (const item of own.service.lists.collections as SampleItem[]) {
      const ref = item.sourceConnection as { id: number; name: string };
      if (ref.id === 77) ref.name = 'Anew';
    }
    const { code, stdout } = await own.run('verify', '--live');
    expect(stdout).toContain(
      '  connections 77: different\n    name: "Renamed" in the mirror, "Anew" at the service\n',
    );
    expect(code).toBe(4);
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
      stdout: expect.stringContaining('\nNothing could be compared with the service.\n'),
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
