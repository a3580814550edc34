import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { parquetPieces } from '../../src/render/parquet.ts';
import type { CellValue, Column } from '../../src/store/read/cells.ts';

const columns: Column[] = [
  { name: 'id', kind: 'integer' },
  { name: 'at', kind: 'time' },
  { name: 'seen_at', kind: 'instant' },
  { name: 'events', kind: 'texts' },
];

const file = (rows: Iterable<CellValue[]>) => Buffer.concat([...parquetPieces(columns, rows)]);

/** What DuckDB answers; `FILE` is the file's path. */
async function answer(bytes: Uint8Array, ...statements: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'parquet-'));
  try {
    const path = join(folder, 'x.parquet');
    writeFileSync(path, bytes);
    const duck = await (await DuckDBInstance.create()).connect();
    const answers = statements.map(sql => duck.runAndReadAll(sql.replaceAll('FILE', `'${path}'`)));
    return (await Promise.all(answers)).map(each => each.getRowsJson());
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const describe = 'SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM FILE)';
const at = '2026-10-31T12:00:00Z';

test('times are in UTC, whatever the zone of the reader', async () => {
  const [types] = await answer(file([[1, at, at, null]]), describe);
  expect(types).toEqual([
    ['id', 'BIGINT'],
    ['at', 'TIMESTAMP WITH TIME ZONE'],
    ['at_text', 'VARCHAR'],
    ['seen_at', 'TIMESTAMP WITH TIME ZONE'],
    ['events', 'VARCHAR[]'],
  ]);
  const count = `SELECT count(*) FROM FILE WHERE "at" >= TIMESTAMPTZ '${at}'`;
  for (const zone of ['America/New_York', 'Asia/Tokyo', 'UTC'])
    expect((await answer(file([[1, at, at, null]]), `SET TimeZone = '${zone}'`, count))[1]).toEqual([['1']]);
});

test('a file without rows has the same columns and types', async () => {
  const [types, count] = await answer(file([]), describe, 'SELECT count(*) FROM FILE');
  expect(types).toEqual((await answer(file([[1, at, at, ['a']]]), describe))[0]);
  expect(count).toEqual([['0']]);
});

test('a file without rows says of what its empty list of row groups is', () => {
  // By Parquet's Thrift: field 4, a list, empty, of structs; then field 6, a text of 9 bytes.
  const groups = Buffer.concat([Buffer.from([0x19, 0x0c, 0x28, 9]), Buffer.from('docmirror')]);
  expect(file([]).includes(groups)).toBe(true);
});
