import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { type Row, runCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, connection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

/** Two runs over lists with all that is hard to write: quotes, line ends, nulls, big ids, times that are none. */
async function hardScene(): Promise<Scene> {
  const scene = await setScene({}, { exports: 20, collections: 3, webhooks: 3 });
  const { lists } = scene.service;
  const big = Number.MAX_SAFE_INTEGER;
  lists['document-exports'].push(
    documentExport(100, {
      sourceDocumentTitle: 'a,b "c"\r\nd\ne\rf',
      exportedAt: 'soon',
      more: { deep: [1] },
    }),
    documentExport(101, { sourceDocumentTitle: '', destinationConnection: null, exportedAt: null }),
    documentExport(102, { sourceDocumentTitle: null, exportedAt: '2026-05-01T12:00:00.123456+02:00' }),
    documentExport(103, { sourceDocumentTitle: ' \u{1d49f} =1+1 ', exportedAt: '2026-05-01T12:00:00' }),
    documentExport(103, { sourceDocumentTitle: ' \u{1d49f} =1+1 ', exportedAt: '2026-05-01T12:00:00' }),
  );
  lists.collections.push(collection(big, { name: "it's; -- \\", sourceConnection: connection(big) }));
  lists.webhooks.push(
    webhook(9, { events: [], connections: [], description: null }),
    webhook(10, { events: ['a"b', ''] }),
  );
  await scene.sync();
  lists.collections.shift();
  (lists['document-exports'][2] as SampleItem).sourceDocumentTitle = 'Second';
  await scene.sync();
  return scene;
}

async function duckdb(sql: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const database = await instance.connect();
  try {
    const reader = await database.runAndReadAll(sql);
    return reader.getRowObjectsJson() as Row[];
  } finally {
    database.closeSync();
    instance.closeSync();
  }
}

/** The rows of a table as plain SQL has them, numbers as text, with lists as JSON. */
const tables: Record<string, string> = {
  document_exports:
    'SELECT id, source_connection_id, source_document_title, source_document_reference, source_document_version, source_document_kind, destination_connection_id, destination_reference, exported_at, _first_seen_run_id, _changed_run_id, _extra FROM document_exports ORDER BY id',
  collections:
    'SELECT id, name, source_connection_id, destination_connection_id, _first_seen_run_id, _changed_run_id, _extra FROM collections ORDER BY id',
  webhooks:
    'SELECT id, endpoint, description, events, connection_ids, _first_seen_run_id, _changed_run_id, _extra FROM webhooks_named ORDER BY id',
  connections: 'SELECT id, name, _first_seen_run_id, _changed_run_id, _extra FROM connections ORDER BY id',
};

const rowsOf = (scene: Scene, table: string) => sqlite(scene.database, tables[table] as string);
const asTexts = (rows: Row[]) =>
  rows.map(row =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, value === null ? '' : String(value)]),
    ),
  );

describe.concurrent('export', () => {
  test('NDJSON has the records as the service sends them', async () => {
    await using scene = await hardScene();
    const { code, stdout } = await scene.run('export', '--out', join(scene.folder, 'out'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/document_exports\.ndjson +25 +\d/);
    const names = {
      'document-exports': 'document_exports',
      collections: 'collections',
      webhooks: 'webhooks',
    } as const;
    for (const [resource, name] of Object.entries(names)) {
      const lines = readFileSync(join(scene.folder, 'out', `${name}.ndjson`), 'utf8')
        .trimEnd()
        .split('\n');
      const items = scene.service.lists[resource as keyof typeof names].map(item => JSON.stringify(item));
      expect(lines.sort()).toEqual(items.sort());
    }
    expect(readdirSync(join(scene.folder, 'out')).sort()).toEqual([
      'collections.ndjson',
      'connections.ndjson',
      'document_exports.ndjson',
      'webhooks.ndjson',
    ]);
  });

  test('CSV is read back by an independent parser', async () => {
    await using scene = await hardScene();
    const out = join(scene.folder, 'out');
    await scene.run('export', '--format', 'csv', '--out', out);
    for (const table of Object.keys(tables)) {
      const rows = parse(readFileSync(join(out, `${table}.csv`), 'utf8'), { columns: true }) as Row[];
      expect(rows, table).toEqual(asTexts(rowsOf(scene, table)));
    }
    // An empty text differs from none.
    expect(readFileSync(join(out, 'document_exports.csv'), 'utf8')).toMatch(
      /\n22,\d+,"",DOC-101,[^\n]*,,[^\n]*,,1,1,\n/,
    );
  });

  test('--names puts the names of connections beside their ids, as they were then', async () => {
    await using scene = await hardScene();
    const { lists } = scene.service;
    for (const item of [
      ...lists['document-exports'],
      ...lists.collections,
      ...lists.webhooks,
    ] as SampleItem[])
      for (const ref of [item.sourceConnection, item.destinationConnection, item.connections].flat())
        if ((ref as { id?: number } | null)?.id === 2) (ref as { name: string }).name = 'Renamed';
    await scene.sync();
    const exported = async (format: string, ...more: string[]) => {
      const out = join(scene.folder, `${format}-${more.length}`);
      expect((await scene.run('export', '--names', '--format', format, '--out', out, ...more)).code).toBe(0);
      return out;
    };
    const readCsv = (out: string, table: string) =>
      parse(readFileSync(join(out, `${table}.csv`)), { columns: true }) as Record<string, string>[];
    const csv = await exported('csv');
    for (const table of ['document_exports', 'collections', 'webhooks']) {
      const named = asTexts(sqlite(scene.database, `SELECT * FROM ${table}_named ORDER BY id`));
      const rows = readCsv(csv, table);
      for (const [at, row] of rows.entries())
        expect(row).toEqual(Object.fromEntries(Object.keys(row).map(name => [name, named[at]?.[name]])));
    }
    const before = await exported('csv', '--as-of-run', '2');
    const nameOf2 = (out: string) =>
      readCsv(out, 'document_exports').find(row => row.source_connection_id === '2')?.source_connection_name;
    expect([nameOf2(csv), nameOf2(before)]).toEqual(['Renamed', connection(2).name]);
    const parquet = await exported('parquet');
    const rows = await duckdb(
      `SELECT * FROM '${join(parquet, 'webhooks.parquet')}' WHERE len(connection_ids) > 0`,
    );
    expect(rows[0]?.connection_names).toHaveLength(
      (rows[0] as { connection_ids: unknown[] }).connection_ids.length,
    );
  });

  test('Parquet is read by DuckDB with the same rows and with types', async () => {
    await using scene = await hardScene();
    const out = join(scene.folder, 'out');
    expect(await scene.run('export', '--format', 'parquet', '--out', out)).toMatchObject({ code: 0 });
    const types = Object.fromEntries(
      (await duckdb(`DESCRIBE SELECT * FROM '${out}/document_exports.parquet'`)).map(row => [
        row.column_name,
        row.column_type,
      ]),
    );
    expect(types).toMatchObject({
      id: 'BIGINT',
      source_connection_id: 'BIGINT',
      exported_at: 'TIMESTAMP WITH TIME ZONE',
      exported_at_text: 'VARCHAR',
      _changed_run_id: 'BIGINT',
    });
    for (const table of ['collections', 'connections']) {
      expect(asTexts(await duckdb(`SELECT * FROM '${out}/${table}.parquet' ORDER BY id`)), table).toEqual(
        asTexts(rowsOf(scene, table)),
      );
    }
    const exports = await duckdb(
      `SELECT * REPLACE (coalesce(exported_at_text, strftime(exported_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')) AS exported_at) FROM '${out}/document_exports.parquet' ORDER BY id`,
    );
    expect(asTexts(exports.map(({ exported_at_text: _text, ...row }) => row))).toEqual(
      asTexts(rowsOf(scene, 'document_exports')),
    );
    const odd = await duckdb(
      `SELECT source_document_reference AS ref, CAST(exported_at AT TIME ZONE 'UTC' AS VARCHAR) AS at, exported_at_text AS text FROM '${out}/document_exports.parquet' WHERE id > 20 ORDER BY id`,
    );
    expect(odd.map(({ ref, at, text }) => [ref, at, text])).toEqual([
      ['DOC-100', null, 'soon'],
      ['DOC-101', null, null],
      ['DOC-102', '2026-05-01 10:00:00.123', '2026-05-01T12:00:00.123456+02:00'],
      ['DOC-103', '2026-05-01 12:00:00', '2026-05-01T12:00:00'],
      ['DOC-103', '2026-05-01 12:00:00', '2026-05-01T12:00:00'],
    ]);
    const hooks = await duckdb(
      `SELECT typeof(events) AS t, typeof(connection_ids) AS u, id, to_json(events) AS events, to_json(connection_ids) AS ids FROM '${out}/webhooks.parquet' ORDER BY id`,
    );
    expect(hooks[0]).toMatchObject({ t: 'VARCHAR[]', u: 'BIGINT[]' });
    expect(hooks.map(({ events, ids }) => [events, ids])).toEqual(
      rowsOf(scene, 'webhooks').map(row => [row.events, row.connection_ids]),
    );
  });

  test.each(['UTC', 'America/New_York'])(
    'Parquet has no time that the service did not send (TZ %s)',
    async TZ => {
      await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
      const times: [exportedAt: string, at: string | null, isExact?: boolean][] = [
        ['2026-02-28T00:00:00Z', '2026-02-28 00:00:00', true],
        ['2026-02-28T00:00:00.5Z', '2026-02-28 00:00:00.5', true],
        ['2026-02-28T00:00:00', '2026-02-28 00:00:00'],
        ['2026-02-28T24:00:00Z', '2026-03-01 00:00:00'],
        ['2026-02-29T00:00:00Z', null],
        ['5', null],
        ['01/02/2026', null],
      ];
      scene.service.lists['document-exports'] = times.map(([exportedAt], at) =>
        documentExport(at, { exportedAt }),
      );
      await scene.sync();
      const out = join(scene.folder, 'out');
      const args = ['export', '--format', 'parquet', '--out', out];
      expect(await runCli(args, { env: { ...scene.env, TZ }, cwd: scene.folder })).toMatchObject({ code: 0 });
      const rows = await duckdb(
        `SELECT CAST(exported_at AT TIME ZONE 'UTC' AS VARCHAR) AS at, exported_at_text AS text FROM '${out}/document_exports.parquet' ORDER BY id`,
      );
      expect(rows.map(({ at, text }) => [at, text])).toEqual(
        times.map(([text, at, isExact]) => [at, isExact ? null : text]),
      );
    },
  );

  test('the change feed as Parquet has whole records, and the fields that an update changed', async () => {
    await using scene = await hardScene();
    const out = join(scene.folder, 'feed.parquet');
    await scene.run('changes', '--format', 'parquet', '--out', out, '--since-run', '0');
    const rows = await duckdb(
      `SELECT resource, operation, changed_fields, record ->> 'sourceDocumentTitle' AS title FROM '${out}' WHERE run_id = 2 ORDER BY ALL`,
    );
    expect(rows).toEqual([
      { resource: 'collections', operation: 'removal', changed_fields: null, title: null },
      {
        resource: 'document-exports',
        operation: 'update',
        changed_fields: '["sourceDocumentTitle"]',
        title: 'Second',
      },
    ]);
  });
});

test('each DuckDB statement of docs/beyond-one-machine.md runs and finds something', async () => {
  await using scene = await hardScene();
  const lake = join(scene.folder, 'lake');
  await scene.run('export', '--format', 'parquet', '--out', lake);
  mkdirSync(join(lake, 'changes'));
  await scene.run(
    'changes',
    '--format',
    'parquet',
    '--since-run',
    '0',
    '--out',
    join(lake, 'changes/1.parquet'),
  );
  const text = readFileSync(join('docs', 'beyond-one-machine.md'), 'utf8');
  const statements = [...text.matchAll(/```sql\n([^`]+)```/g)].map(([, sql]) => sql as string);
  expect(statements.length).toBeGreaterThanOrEqual(3);
  const results: Row[][] = [];
  for (const statement of statements) results.push(await duckdb(statement.replaceAll("'lake/", `'${lake}/`)));
  for (const [at, rows] of results.entries()) expect(rows.length, statements[at]).toBeGreaterThan(0);
  const standing = Object.keys(tables).reduce((sum, table) => sum + rowsOf(scene, table).length, 0);
  expect(results.at(-1)).toHaveLength(standing);
});
