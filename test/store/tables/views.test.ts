import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { is } from 'drizzle-orm';
import { getTableConfig, getViewConfig, SQLiteTable, SQLiteView } from 'drizzle-orm/sqlite-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as schema from '../../../src/schema.ts';
import { openInMemory } from '../../../src/store/file/open-to-write.ts';
import { makeBigMirror } from '../../support/big-mirror.ts';
import { holdRun } from '../../support/held-run.ts';
import { syncScene } from '../../support/in-process.ts';
import { sqlite, temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { collection, documentExport, webhook } from '../../support/stand-in.ts';

describe('the views', () => {
  let scene: Scene;

  beforeAll(async () => {
    scene = await setScene({}, { exports: 5, collections: 3, webhooks: 2 });
    await syncScene(scene);
    scene.service.lists.collections = [collection(1, { name: 'Other' }), collection(2)];
    await syncScene(scene, { allowMassRemoval: true });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test('have the type of each column', () => {
    const types = sqlite(
      scene.database,
      `SELECT v.name || '.' || c.name AS name, c.type FROM sqlite_schema v JOIN pragma_table_xinfo(v.name) c
       WHERE v.type = 'view'`,
    );
    expect(types.filter(({ type }) => !/^(TEXT|INT|INTEGER)$/.test(`${type}`))).toEqual([]);
    const isNumber = (name: unknown) => /(\.|_)(id|ms|seconds|count)$|\.is_/.test(`${name}`);
    expect(types.filter(({ type }) => type !== 'TEXT').map(({ name }) => name)).toEqual(
      types.filter(({ name }) => isNumber(name)).map(({ name }) => name),
    );
  });

  test('have the type of an operation, of its time and of a version before also for SQLite 3.40', ({
    skip,
  }) => {
    const version = spawnSync('sqlite3', ['--version'], { encoding: 'utf8' }).stdout ?? '';
    if (!/^3\.(3\d|40)\./.test(version)) skip('sqlite3 3.40 or older is needed');
    const untyped = `SELECT v.name || '.' || c.name FROM sqlite_schema v JOIN pragma_table_info(v.name) c
      WHERE v.type = 'view' AND c.type = '' AND v.name NOT IN ('sync_status', 'webhooks_named')
      AND v.name NOT LIKE '%\\_ever' ESCAPE '\\' AND c.name NOT IN ('first_seen_at', 'changed_at')
      UNION SELECT 'changes.changed_at' FROM pragma_table_info('changes') WHERE name = 'changed_at' AND type = ''`;
    expect(
      execFileSync('sqlite3', [scene.database, untyped], { encoding: 'utf8' }).split('\n').sort(),
    ).toEqual([
      '',
      'changes.changed_fields',
      'changes.record',
      'document_exports_named.exported_at_utc',
      'latest_versions.exported_at_utc',
    ]);
  });

  test('have the time of an export in UTC to the second, in a form that every tool reads', async () => {
    const times = {
      '2026-05-01T20:00:00.999+02:00': '2026-05-01 18:00:00',
      '1969-12-31T23:59:58.500Z': '1969-12-31 23:59:58',
      '2026-05-01': '2026-05-01 00:00:00',
      soon: null,
    };
    await using other = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
    other.service.lists['document-exports'] = Object.keys(times).map((exportedAt, at) =>
      documentExport(at, { exportedAt }),
    );
    await syncScene(other);
    for (const view of ['document_exports_named', 'latest_versions']) {
      const rows = sqlite(other.database, `SELECT exported_at, exported_at_utc FROM ${view}`);
      expect(Object.fromEntries(rows.map(row => [row.exported_at, row.exported_at_utc]))).toEqual(times);
    }
  });

  test('have the times of the runs that first saw and last changed a record', () => {
    const [at1, at2] = ['1', '2'].map(
      runId =>
        sqlite(
          scene.database,
          `SELECT completed_at AS at FROM sync_run_resources WHERE run_id = ${runId} AND resource = 'collections'`,
        )[0]?.at,
    );
    expect(at1).not.toBe(at2);
    expect(
      sqlite(scene.database, 'SELECT id, first_seen_at, changed_at FROM collections_named ORDER BY id'),
    ).toEqual([
      { id: 1, first_seen_at: at1, changed_at: at2 },
      { id: 2, first_seen_at: at1, changed_at: at1 },
    ]);
  });
});

test('`latest_versions` has the newest export of each document', async () => {
  await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const source = (id: number) => ({ sourceConnection: { id, name: `Source ${id}` } });
  const exported = (title: string, reference: string | null, sourceId: number, exportedAt: string | null) =>
    documentExport(1, {
      ...source(sourceId),
      sourceDocumentTitle: title,
      sourceDocumentReference: reference,
      exportedAt,
    });
  const [monday, tuesday] = ['2026-01-05T08:00:00Z', '2026-01-06T08:00:00Z'];
  scene.service.lists['document-exports'] = [
    exported('old', 'A', 1, monday),
    exported('new', 'A', 1, tuesday),
    exported('of another source', 'A', 2, monday),
    exported('without a time', 'B', 1, null),
    exported('with a time', 'B', 1, monday),
    exported('without a reference', null, 1, monday),
    exported('also without one', null, 1, tuesday),
    exported('first of two at once', 'C', 1, monday),
    exported('second of two at once', 'C', 1, monday),
  ];
  await syncScene(scene);
  const latest = sqlite(
    scene.database,
    'SELECT source_document_title AS title, source_connection_name AS source FROM latest_versions ORDER BY id',
  );
  const newest = sqlite(
    scene.database,
    "SELECT source_document_title AS title FROM document_exports WHERE source_document_reference = 'C' ORDER BY id DESC LIMIT 1",
  );
  expect(latest.map(({ title, source: name }) => `${title}: ${name}`).sort()).toEqual(
    [
      'new: Source 1',
      'of another source: Source 2',
      'with a time: Source 1',
      'without a reference: Source 1',
      'also without one: Source 1',
      `${newest[0]?.title}: Source 1`,
    ].sort(),
  );
  const columns = (view: string) => sqlite(scene.database, `SELECT name FROM pragma_table_info('${view}')`);
  expect(columns('latest_versions')).toEqual(columns('document_exports_named'));
});

test('`sync_status` keeps the verdict of the last run that ended while another one is under way', async () => {
  await using scene = await setScene({}, { exports: 1, collections: 1, webhooks: 1 });
  const status = () =>
    sqlite(
      scene.database,
      'SELECT last_run_id, last_run_status, completeness, verdict, is_running FROM sync_status',
    );
  {
    await using first = await holdRun(scene, 'webhooks');
    const none = { last_run_id: null, last_run_status: null, completeness: null, verdict: 'never synced' };
    expect(status()).toEqual(Array(3).fill({ ...none, is_running: 1 }));
    await first.release();
  }
  const ended = {
    last_run_id: 1,
    last_run_status: 'completed',
    completeness: 'proven',
    verdict: 'complete: proven',
  };
  expect(status()).toEqual(Array(3).fill({ ...ended, is_running: 0 }));
  scene.service.lists.webhooks = [webhook(1, { description: 'Other' })];
  await using second = await holdRun(scene, 'webhooks');
  expect(status()).toEqual(Array(3).fill({ ...ended, is_running: 1 }));
  await second.release();
  expect(status()).toEqual(Array(3).fill({ ...ended, last_run_id: 2, is_running: 0 }));
});

test('`sync_status` leaves out a list that no run asked for', async () => {
  await using scene = await setScene({}, { exports: 1, collections: 1, webhooks: 1 });
  await scene.run('sync', '--resource', 'collections');
  const status = () => sqlite(scene.database, 'SELECT resource, verdict FROM sync_status');
  expect(status()).toEqual([{ resource: 'collections', verdict: 'complete: proven' }]);
  await syncScene(scene);
  expect(status()).toHaveLength(3);
});

describe('a question to `changes` is answered by indexes', () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'big.sqlite');
  beforeAll(() => makeBigMirror(path, 1_000));
  afterAll(() => folder[Symbol.asyncDispose]());

  const questions = [
    'SELECT * FROM changes WHERE run_id = 50',
    'SELECT * FROM changes WHERE run_id = (SELECT max(id) FROM sync_runs)',
    'SELECT * FROM changes WHERE run_id > 95 ORDER BY run_id',
    "SELECT * FROM changes WHERE resource = 'document-exports' AND record_id = 500",
    'SELECT resource, operation, count(*) FROM changes WHERE run_id = 50 GROUP BY 1, 2',
    'SELECT s.started_at, c.record FROM changes c JOIN sync_runs s ON s.id = c.run_id WHERE c.run_id = 50',
    'SELECT * FROM changes ORDER BY run_id DESC LIMIT 5',
  ];
  /** The slow steps of a plan: full scans, by the names that the view gives them, or all that a run has ended for each record. */
  const slowIn = (plan: readonly string[]) =>
    plan.filter(
      line =>
        /^\W*SCAN [abchlnt](?! VIRTUAL TABLE)(?!.*USING INDEX \w+_run_id$)\b/.test(line) ||
        line.includes('SEARCH b USING INDEX record_history_valid_to_run_id'),
    );

  test.each(questions)('by the SQLite that is built in: %s', question => {
    const plan = sqlite(path, `EXPLAIN QUERY PLAN ${question}`).map(({ detail }) => `${detail}`);
    expect(slowIn(plan)).toEqual([]);
  });

  const hasSqliteCli = spawnSync('sqlite3', ['--version']).status === 0;
  test.skipIf(!hasSqliteCli).each(questions)('by the sqlite3 of this machine: %s', question => {
    const plan = execFileSync('sqlite3', ['-readonly', path, `EXPLAIN QUERY PLAN ${question}`], {
      encoding: 'utf8',
    });
    expect(slowIn(plan.split('\n'))).toEqual([]);
  });
});

interface Declared {
  readonly name: string;
  readonly columns: readonly string[];
}

function declaredIn(relation: unknown): Declared {
  if (is(relation, SQLiteTable)) {
    const { name, columns } = getTableConfig(relation);
    return {
      name,
      columns: columns.map(column => `${column.name} ${column.getSQLType()} ${column.notNull}`),
    };
  }
  if (!is(relation, SQLiteView)) throw new TypeError('It is neither a table nor a view.');
  const { name, selectedFields } = getViewConfig(relation);
  const columns = Object.values(selectedFields as Record<string, { name: string; getSQLType(): string }>);
  return { name, columns: columns.map(column => `${column.name} ${column.getSQLType()}`) };
}

test('docmirror/schema declares the tables and views of a mirror as they are, without those of book-keeping', () => {
  using mirror = openInMemory();
  const found = mirror.sqlite
    .prepare<[], { name: string; type: string }>(
      `SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')
       AND substr(name, 1, 1) <> '_' AND name <> 'sqlite_sequence'`,
    )
    .all();
  const columnsOf = mirror.sqlite.prepare<[string, string], string>(
    `SELECT name || ' ' || iif(type LIKE 'INT%', 'integer', lower(type))
       || iif(? = 'table', iif("notnull", ' true', ' false'), '')
     FROM pragma_table_xinfo(?)`,
  );
  const actual = found.map(({ name, type }) => ({ name, columns: columnsOf.pluck().all(type, name) }));
  const sorted = (relations: readonly Declared[]) =>
    relations
      .map(({ name, columns }) => ({ name, columns: columns.toSorted() }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(sorted(Object.values(schema).map(declaredIn))).toEqual(sorted(actual));
});
