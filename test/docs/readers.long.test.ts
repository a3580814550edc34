import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';

// The readers of docs/tools.md that have no sample there. Debian has gdal-bin miller xlsx2csv sqlite-utils python3-openpyxl, and
// `npm ci --prefix test/readers` the others. A reader that is not installed is skipped.

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
const share = path('docmirror-demo-share.sqlite');
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const packages = createRequire(join(import.meta.dirname, '../readers/package.json'));

/** What each reader must find: count, sums of ids and of times, and ten rows. */
interface Found {
  readonly count: number;
  readonly ids: bigint;
  readonly ms: bigint;
  readonly rows: readonly string[];
}

/** A row of a reader's file: its values by the names of columns. */
type Row = Readonly<Record<string, unknown>>;

const isOneOfTen = (id: number) => id % 401 === 1;

/** What a reader found, of the rows that it gave. Times are milliseconds, or texts of a time in UTC. */
function foundIn(rows: readonly Row[]): Found {
  const all = rows.map(row => ({ ...row, id: Number(row.id), ms: msOf(row) }));
  const sum = (of: (row: (typeof all)[number]) => bigint) => all.reduce((total, row) => total + of(row), 0n);
  const some = all.filter(({ id }) => isOneOfTen(id)).map(row => textOf(row, row.id, row.ms));
  return { count: all.length, ids: sum(({ id }) => BigInt(id)), ms: sum(({ ms }) => ms), rows: some.sort() };
}

function msOf(row: Row): bigint {
  const { exported_at_ms: ms, exported_at: at } = row;
  if (ms !== undefined) return BigInt(String(ms));
  return BigInt(at instanceof Date ? at.getTime() : Date.parse(String(at)));
}

const textOf = (row: Row, id: number, ms: bigint) =>
  [id, row.source_document_title ?? '', row.source_document_reference ?? '', ms].join(' | ');

/** To the second: a spreadsheet's reader can cut or round there. */
const seconds = (rows: readonly Row[]) =>
  rows.map(row => ({ ...row, exported_at: `${String(row.exported_at).slice(0, 19).replace(' ', 'T')}Z` }));

let expected: Found;
let expectedSeconds: Found;

beforeAll(async () => {
  const shell = docmirrorShell(folder.path);
  expect(await shell('docmirror demo')).toMatchObject({ code: 0 });
  const ofShare = '--database docmirror-demo-share.sqlite';
  for (const format of ['parquet', 'csv', 'ndjson', 'xlsx'])
    expect(await shell(`docmirror export --format ${format} --out ${format} ${ofShare}`)).toMatchObject({
      code: 0,
    });
  const none = `docmirror query "SELECT * FROM document_exports WHERE false" --format parquet --out none.parquet ${ofShare}`;
  expect(await shell(none)).toMatchObject({ code: 0 });
  const rows = sqlite(share, 'SELECT * FROM document_exports_named');
  expected = foundIn(rows);
  const cut = rows.map(row => ({
    ...row,
    exported_at_ms: Math.trunc(Number(row.exported_at_ms) / 1000) * 1000,
  }));
  expectedSeconds = foundIn(cut);
  expect(expected.rows.length).toBeGreaterThanOrEqual(10);
});
afterAll(() => folder[Symbol.asyncDispose]());

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: folder.path, encoding: 'utf8', maxBuffer: 2 ** 27 });
const csv = (text: string): Row[] => parse(text, { columns: true });
const inNode = (name: string) => existsSync(join(import.meta.dirname, '../readers/node_modules', name));

test('GDAL reads the share, whose times have 64 bits', ({ skip }) => {
  if (!has('ogr2ogr', '--version')) skip('gdal-bin is needed');
  run('ogr2ogr', '-f', 'CSV', 'gdal.csv', share, 'document_exports_named');
  expect(foundIn(csv(readFileSync(path('gdal.csv'), 'utf8')))).toEqual(expected);
});

test('sqlite-utils reads the share', ({ skip }) => {
  if (!has('sqlite-utils', '--version')) skip('sqlite-utils is needed');
  expect(foundIn(csv(run('sqlite-utils', 'rows', share, 'document_exports_named', '--csv')))).toEqual(
    expected,
  );
});

test('sqlite3 clones each table of the share', ({ skip }) => {
  if (!has('sqlite3', '--version')) skip('sqlite3 is needed');
  run('sqlite3', share, '.clone clone.sqlite');
  const tables = sqlite(
    share,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  );
  for (const { name } of tables) {
    const count = `SELECT count(*) AS n FROM "${name}"`;
    expect(sqlite(path('clone.sqlite'), count), String(name)).toEqual(sqlite(share, count));
  }
});

test('Turso reads the tables and the views of names, and leaves the share as it is', async ({ skip }) => {
  if (!inNode('@tursodatabase/database')) skip('npm ci --prefix test/readers is needed');
  const before = readFileSync(share);
  const { connect } = packages('@tursodatabase/database');
  const db = await connect(share, { readonly: true, experimental: ['views'] });
  const all = async (sql: string) => (await db.prepare(sql)).all();
  expect(foundIn(await all('SELECT * FROM document_exports'))).toEqual(expected);
  for (const view of ['document_exports_named', 'collections_named', 'webhooks_named']) {
    const count = `SELECT count(*) AS n FROM ${view}`;
    expect(await all(count), view).toEqual(sqlite(share, count));
  }
  await db.close();
  expect(readFileSync(share).equals(before)).toBe(true);
});

test('Miller reads CSV', ({ skip }) => {
  if (!has('mlr', '--version')) skip('miller is needed');
  const rows = JSON.parse(run('mlr', '-S', '--icsv', '--ojson', 'cat', 'csv/document_exports.csv'));
  expect(foundIn(rows)).toEqual(expected);
});

test('xlsx2csv makes rows of one length, which Miller takes', ({ skip }) => {
  if (!has('xlsx2csv', '--version') || !has('mlr', '--version')) skip('xlsx2csv and miller are needed');
  for (const name of ['document_exports', 'collections', 'webhooks', 'connections'])
    run(
      'sh',
      '-c',
      `xlsx2csv xlsx/${name}.xlsx > ${name}.csv && mlr -S --icsv --ojson cat ${name}.csv > ${name}.json`,
    );
  const rows: Row[] = JSON.parse(readFileSync(path('document_exports.json'), 'utf8'));
  expect(foundIn(seconds(rows))).toEqual(expectedSeconds);
});

test('openpyxl reads a sheet row by row', ({ skip }) => {
  if (!has(python, '-c', 'import openpyxl')) skip('python3-openpyxl is needed');
  const script = `import json, openpyxl
sheet = openpyxl.load_workbook('xlsx/document_exports.xlsx', read_only=True).active
rows = list(sheet.iter_rows(values_only=True))
assert len({len(row) for row in rows}) == 1
print(json.dumps([dict(zip(rows[0], row)) for row in rows[1:]], default=str))`;
  const rows: Row[] = JSON.parse(run(python, '-c', script));
  const utc = rows.map(row => ({
    ...row,
    exported_at: `${String(row.exported_at).replace(' ', 'T').slice(0, 23)}Z`,
  }));
  expect(foundIn(utc)).toEqual(expected);
});

test('DuckDB counts the same in three zones', async () => {
  const duck = await (await DuckDBInstance.create()).connect();
  const at = new Date(Number(expected.ms / BigInt(expected.count))).toISOString();
  const since = sqlite(
    share,
    `SELECT count(*) AS n FROM document_exports WHERE exported_at_ms >= ${Date.parse(at)}`,
  );
  for (const zone of ['UTC', 'America/New_York', 'Asia/Tokyo']) {
    await duck.run(`SET TimeZone = '${zone}'`);
    const file = `'${path('parquet/document_exports.parquet')}'`;
    const counted = await duck.runAndReadAll(
      `SELECT count(*) AS n FROM ${file} WHERE exported_at >= TIMESTAMPTZ '${at}'`,
    );
    expect(Number(counted.getRows()[0]?.[0]), zone).toBe(since[0]?.n);
    const sums = await duck.runAndReadAll(
      `SELECT count(*), sum(id), sum(epoch_ms(exported_at)) FROM ${file}`,
    );
    expect(sums.getRows()[0]?.map(String)).toEqual([expected.count, expected.ids, expected.ms].map(String));
  }
});

test('polars reads Parquet, whose times are in UTC', ({ skip }) => {
  // Its program is left out by the npm of an older Node.js.
  if (!inNode('nodejs-polars-linux-x64-gnu'))
    skip('npm ci --prefix test/readers, by Node 22 or newer, is needed');
  const polars = packages('nodejs-polars');
  const frame = polars.readParquet(path('parquet/document_exports.parquet'));
  expect(String(frame.schema.exported_at)).toMatch(/UTC/);
  expect(foundIn(frame.toRecords())).toEqual(expected);
  expect(polars.readParquet(path('none.parquet')).columns).toContain('exported_at_ms');
});

test("Rust's parquet crate reads Parquet, also without rows", ({ skip }) => {
  if (!inNode('parquet-wasm')) skip('npm ci --prefix test/readers is needed');
  const { readParquet, readSchema } = packages('parquet-wasm/node');
  const bytes = readFileSync(path('parquet/document_exports.parquet'));
  const table = readParquet(bytes);
  const counts = table.recordBatches().map(({ numRows }: { numRows: number }) => numRows);
  expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(expected.count);
  expect(readSchema(readFileSync(path('none.parquet')))).toBeDefined();
  expect(readParquet(readFileSync(path('none.parquet'))).recordBatches()).toEqual([]);
});
