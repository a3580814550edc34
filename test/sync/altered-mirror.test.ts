import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentOf } from '../../src/contract/content.ts';
import { lists } from '../../src/contract/lists.ts';
import { MirrorAlteredError } from '../../src/errors.ts';
import { MirrorLock, markOf } from '../../src/store/file/lock-file.ts';
import { ListTable } from '../../src/store/tables/list-table.ts';
import { verifyMirror } from '../../src/store/verify/verify.ts';
import { tamper } from '../store/verify/tamper.ts';
import { inTurn } from '../support/cases.ts';
import { syncScene } from '../support/in-process.ts';
import { type Row, runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, type SampleItem } from '../support/stand-in.ts';

const day = 86_400_000;
const { signal } = new AbortController();

/** A mirror of three runs with a history and a rejected record; its service. Each case alters a copy. */
let base: Scene;

beforeAll(async () => {
  base = await setScene({}, { exports: 30, collections: 6, webhooks: 4 });
  const { lists: at } = base.service;
  await syncScene(base);
  (at.collections[1] as SampleItem).name = 'Second';
  at['document-exports'].splice(3, 1);
  at.collections.push('17');
  await syncScene(base);
  at.collections.pop();
  await syncScene(base);
});
afterAll(() => base[Symbol.asyncDispose]());

/** A copy of the mirror for one case. */
interface Case extends AsyncDisposable {
  readonly service: Scene['service'];
  readonly database: string;
  cli(...args: string[]): ReturnType<typeof runCli>;
}

function copy(of = base.database): Case {
  const folder = temporaryFolder();
  const database = join(folder.path, 'mirror.sqlite');
  copyFileSync(of, database);
  base.service.requests = [];
  const { service, env } = base;
  const cli = (...args: string[]) =>
    runCli(args, { env: { ...env, DOCMIRROR_DATABASE: database }, cwd: folder.path });
  return { service, database, cli, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Every row of every table, in the order of its key. */
function dump(path: string): Record<string, Row[]> {
  const tables = sqlite(path, "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  const rows = tables.map(({ name }) => [String(name), sqlite(path, `SELECT * FROM "${name}"`)]);
  return { ...Object.fromEntries(rows), schema: sqlite(path, 'SELECT type, name, sql FROM sqlite_schema') };
}

/** The service's records in the mirror, with the names of connections, and without docmirror's own ids. */
function contents(path: string): unknown {
  return [
    `SELECT source_connection_id, source_document_title, source_document_reference, source_document_version,
       source_document_kind, destination_connection_id, destination_reference, exported_at, _extra
     FROM document_exports ORDER BY 2, 3, 4, 8`,
    'SELECT id, name, source_connection_id, destination_connection_id, _extra FROM collections ORDER BY id',
    'SELECT id, endpoint, description, _extra FROM webhooks ORDER BY id',
    'SELECT * FROM webhook_events ORDER BY 1, 2',
    'SELECT * FROM webhook_connections ORDER BY 1, 2',
    'SELECT id, name, _extra FROM connections ORDER BY id',
  ].map(sql => sqlite(path, sql));
}

/** Gives each row the content that matches its columns, as somebody who knows docmirror would. */
function forgeContents(path: string): void {
  const database = new Database(path);
  try {
    for (const list of lists) {
      const update = database.prepare(`UPDATE ${list.table} SET _content = ? WHERE id = ?`);
      for (const { id, record } of [...new ListTable(database, list).rows()].flat())
        update.run(Buffer.from(contentOf(list, record), 'hex'), id);
    }
  } finally {
    database.close();
  }
}

const swapped = `UPDATE collections SET name =
  (SELECT name FROM collections AS other WHERE other.id = 3 - collections.id) WHERE id IN (1, 2)`;

/** Alterations that a run finds before it begins: lists or connections that differ from the newest receipts. */
const refused: readonly [what: string, sql: string][] = [
  ['a changed column', "UPDATE document_exports SET source_document_title = 'other' WHERE id = 5"],
  ['a column that is null now', 'UPDATE document_exports SET exported_at = NULL WHERE id = 5'],
  ['every row', "UPDATE webhooks SET description = 'other'"],
  ['a further field', `UPDATE collections SET _extra = '{"a":1}' WHERE id = 3`],
  ['further fields that are no JSON', "UPDATE collections SET _extra = 'no JSON' WHERE id = 3"],
  ['a deleted row', 'DELETE FROM document_exports WHERE id = 5'],
  ['a list without rows', 'DELETE FROM document_exports'],
  [
    'an added row',
    "INSERT INTO collections (id, name, _first_seen_run_id, _changed_run_id, _content) VALUES (999, 'x', 1, 1, zeroblob(16))",
  ],
  ['two rows that change places', swapped],
  ['an event that is gone', 'DELETE FROM webhook_events WHERE position = 0'],
  ['an event of no webhook', "INSERT INTO webhook_events VALUES (999, 0, 'x')"],
  ['a link to another connection', 'UPDATE webhook_connections SET connection_id = 777'],
  ["a connection's name", "UPDATE connections SET name = 'other' WHERE id = 1"],
  ["a connection's content", 'UPDATE connections SET _content = zeroblob(16) WHERE id = 1'],
  ["a connection's name and content", "UPDATE connections SET name = 'other', _content = zeroblob(16)"],
  ['a connection that is gone', 'DELETE FROM connections WHERE id = 1'],
  [
    'a connection that nobody named',
    "INSERT INTO connections (id, name, _first_seen_run_id, _changed_run_id, _content) VALUES (999, 'x', 1, 1, zeroblob(16))",
  ],
];

describe('a mirror that another program altered', () => {
  test.each(refused.map(([what, sql], at) => ({ what, sql, at })))(
    'is refused before the service is asked, and stays as it is: $what',
    async ({ sql, at }) => {
      for (const isForged of inTurn([false, true], at)) {
        await using altered = copy();
        expect(tamper(altered.database, sql)).toBe(true);
        if (isForged && sql.includes('no JSON')) continue;
        if (isForged) forgeContents(altered.database);
        const before = dump(altered.database);
        const refusal = { code: 'mirror_altered', exitCode: 4 };
        await expect(syncScene(altered, { fullEveryMs: day })).rejects.toMatchObject(refusal);
        expect(altered.service.requests).toEqual([]);
        expect(dump(altered.database)).toEqual(before);
      }
    },
  );

  test.each([false, true])(
    'is what the service lists after a rebuild, whatever was altered; its contents too: %s',
    async isForged => {
      await using altered = copy();
      const isForgeable = (sql: string) => !isForged || !sql.includes('no JSON');
      const all = refused.filter(([what, sql]) => what !== 'a list without rows' && isForgeable(sql));
      for (const [, sql] of all) tamper(altered.database, sql);
      if (isForged) forgeContents(altered.database);
      await expect(syncScene(altered)).rejects.toBeInstanceOf(MirrorAlteredError);
      const options = { mayRebuild: true, fullEveryMs: day, allowMassRemoval: true };
      expect(await syncScene(altered, options)).toMatchObject({ code: 0, status: 'completed' });
      expect(contents(altered.database)).toEqual(contents(base.database));
      const { differences } = await verifyMirror(altered.database, { limit: 5, signal });
      expect(differences).toEqual([]);
      expect(await syncScene(altered, { fullEveryMs: day })).toMatchObject({ code: 0, status: 'completed' });
    },
  );

  test.each([
    ['a row that is altered', "UPDATE collections SET name = 'x' WHERE id = 3", 'its collections are not'],
    [
      'a trigger',
      'CREATE TRIGGER odd AFTER INSERT ON webhooks BEGIN SELECT 1; END',
      'trigger odd on webhooks',
    ],
    ['a unique index', 'CREATE UNIQUE INDEX odd ON collections (id, name)', 'index odd on collections'],
  ])('is refused by the command line in one line that says what to do: %s', async (_what, sql, words) => {
    await using altered = copy();
    expect(tamper(altered.database, sql)).toBe(true);
    const before = dump(altered.database);
    for (const args of [['sync'], ['sync', '--json'], ['sync', '--dry-run']]) {
      const { code, stderr } = await altered.cli(...args);
      expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 4, lines: 1 });
      expect(stderr).toContain(words);
      expect(stderr).toContain('sync --rebuild');
    }
    expect(altered.service.requests).toEqual([]);
    expect(dump(altered.database)).toEqual(before);
    expect(await altered.cli('sync', '--rebuild')).toMatchObject({ code: 0 });
    expect(contents(altered.database)).toEqual(contents(base.database));
    expect(await altered.cli('verify')).toMatchObject({ code: 0 });
    expect(await altered.cli('sync')).toMatchObject({ code: 0 });
  });

  test('has no state of before its rebuild to export', async () => {
    await using altered = copy();
    tamper(altered.database, 'DELETE FROM document_exports WHERE id = 5');
    expect(await syncScene(altered, { mayRebuild: true })).toMatchObject({ code: 0 });
    const asOf = (runId: number) =>
      altered.cli('export', '--out', `${altered.database}-${runId}`, '--as-of-run', `${runId}`);
    expect(await asOf(3)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The oldest run that can be asked for is 4.'),
    });
    expect(await asOf(4)).toMatchObject({ code: 0 });
  });

  test.each([
    ['a view', 'DROP VIEW changes'],
    ['an index', 'DROP INDEX collections_changed_run_id'],
    [
      'an index that is another',
      'DROP INDEX collections_changed_run_id; CREATE INDEX collections_changed_run_id ON collections (name)',
    ],
    ['the triggers of receipts', 'DROP TRIGGER sync_receipts_stay; DROP TRIGGER sync_receipts_are_kept'],
  ])('has its objects again after a rebuild, if only these were altered: %s', async (_what, sql) => {
    await using altered = copy();
    new Database(altered.database).exec(sql).close();
    expect(await altered.cli('verify')).toMatchObject({ code: 4 });
    expect(await altered.cli('sync', '--rebuild')).toMatchObject({ code: 0 });
    expect(await altered.cli('verify')).toMatchObject({ code: 0 });
  });
});

test('a row that another program deletes while its list is read makes that run fail, and it writes nothing of the list', async () => {
  await using altered = copy();
  const { service } = altered;
  service.lists.collections.push(collection(90));
  service.onRequest = ({ resource }) => {
    if (resource !== 'collections') return;
    service.onRequest = undefined;
    tamper(altered.database, 'DELETE FROM collections WHERE id = 3');
  };
  try {
    const { code, summary } = await syncScene(altered, { fullEveryMs: day });
    expect(code).toBe(4);
    const failed = summary.resources.filter(({ status }) => status === 'failed');
    expect(failed).toMatchObject([{ resource: 'collections', error: { code: 'mirror_altered' } }]);
    expect(sqlite(altered.database, 'SELECT id FROM collections WHERE id IN (3, 90)')).toEqual([]);
  } finally {
    service.onRequest = undefined;
    service.lists.collections.pop();
  }
});

test('an alteration that the file does not show from outside is found before the list is committed', async () => {
  await using altered = copy();
  tamper(altered.database, 'DELETE FROM document_exports WHERE id = 5');
  // As if nobody had written to the file since the last run.
  const lock = new MirrorLock(altered.database);
  lock.setMark(markOf(altered.database));
  lock.release();
  const before = sqlite(altered.database, 'SELECT * FROM document_exports');
  const { code, summary } = await syncScene(altered);
  expect(altered.service.requests).not.toEqual([]);
  expect(code).toBe(4);
  const failed = summary.resources.filter(({ status }) => status === 'failed');
  expect(failed).toMatchObject([{ resource: 'document-exports', error: { code: 'mirror_altered' } }]);
  expect(sqlite(altered.database, 'SELECT * FROM document_exports')).toEqual(before);
});
