import { printable, printableJson } from '../printable.ts';
import type { ColumnKind } from '../store/read/export-tables.ts';
import type { QueryValue } from '../store/read/query.ts';
import { CsvEncoder, type TableEncoder } from './export-formats.ts';
import { ParquetEncoder } from './parquet.ts';
import { type Column, renderTable } from './table.ts';

/** The formats that `query` prints, the first of them by default. */
export const queryFormats = ['table', 'csv', 'json', 'ndjson', 'parquet'] as const;

/** One of the formats that `query` prints. */
export type QueryFormat = (typeof queryFormats)[number];

type Row = readonly QueryValue[];

/** A result: the names of its columns, and its rows, which can be read again. */
export interface QueryResult {
  readonly columns: readonly string[];
  rows(): Iterable<Row>;
}

/** A result as text or bytes, piece by piece. Its memory does not grow with the rows. */
export function queryPieces(
  { columns, rows }: QueryResult,
  format: QueryFormat,
  width: number,
): Iterable<string | Uint8Array> {
  switch (format) {
    case 'table':
      return tablePieces(columns, rows(), width);
    case 'json':
      return jsonPieces(columns, rows());
    case 'ndjson':
      return objectsOf(columns, rows()).map(object => `${object}\n`);
    case 'csv': {
      const texts = columns.map(name => ({ name, kind: 'text' as const }));
      return encoded(rows(), write => new CsvEncoder(texts, write));
    }
    case 'parquet':
      return parquetPieces(columns, rows);
  }
}

/** A longer table repeats its heading, because the widths are computed for this many rows. */
const rowsPerTable = 1_000;

function* tablePieces(columns: readonly string[], rows: Iterable<Row>, width: number): Generator<string> {
  const names = columns.map(printable);
  let isFirst = true;
  for (const some of inBatches(rows, rowsPerTable)) {
    const isText = names.map((_, at) => some.some(row => typeof row[at] === 'string'));
    const headings = names.map((name, at): Column => (isText[at] ? name : { right: name }));
    const cells = some.map(row => row.map(value => (value === null ? '' : String(value))));
    yield `${isFirst ? '' : '\n'}${renderTable(headings, cells, width)}`;
    isFirst = false;
  }
  if (isFirst) yield renderTable(names, [], width);
}

function* inBatches(rows: Iterable<Row>, size: number): Generator<Row[]> {
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function* jsonPieces(columns: readonly string[], rows: Iterable<Row>): Generator<string> {
  let before = '[';
  for (const object of objectsOf(columns, rows)) {
    yield `${before}\n${object}`;
    before = ',';
  }
  yield before === '[' ? '[]\n' : '\n]\n';
}

/** Each row as a line of JSON, with its columns in their order. */
function* objectsOf(columns: readonly string[], rows: Iterable<Row>): Generator<string> {
  const names = columns.map(name => `${JSON.stringify(name)}:`);
  for (const row of rows)
    yield printableJson(`{${row.map((value, at) => names[at] + jsonOf(value)).join(',')}}`);
}

function jsonOf(value: QueryValue): string {
  if (typeof value === 'bigint') return String(value);
  // JSON has no infinity; readers make one from a number that is too large.
  if (value === Number.POSITIVE_INFINITY) return '9e999';
  return value === Number.NEGATIVE_INFINITY ? '-9e999' : JSON.stringify(value);
}

function* encoded(
  rows: Iterable<Row>,
  encoderFor: (write: (piece: string | Uint8Array) => void) => TableEncoder,
): Generator<string | Uint8Array> {
  const pieces: (string | Uint8Array)[] = [];
  const encoder = encoderFor(piece => pieces.push(piece));
  for (const row of rows) {
    encoder.add(row);
    yield* pieces.splice(0);
  }
  encoder.finish();
  yield* pieces;
}

/** SQLite has types for values, and Parquet for columns: all values are read once more to find these. */
function parquetPieces(
  columns: readonly string[],
  rows: () => Iterable<Row>,
): Generator<string | Uint8Array> {
  const kinds = kindsOf(columns, rows());
  const typed = columns.map((name, at) => ({ name, kind: kinds[at] ?? 'text' }));
  const fitting = Iterator.from(rows()).map(row => row.map((value, at) => fitted(value, kinds[at])));
  return encoded(fitting, write => new ParquetEncoder(typed, write));
}

function kindsOf(columns: readonly string[], rows: Iterable<Row>): ColumnKind[] {
  const seen = columns.map(() => ({ integers: false, inexact: false, reals: false, texts: false }));
  for (const row of rows) {
    for (const [at, column] of seen.entries()) {
      const value = row[at];
      if (typeof value === 'bigint') {
        column.integers = true;
        column.inexact ||= BigInt(Number(value)) !== value;
      } else if (typeof value === 'number') column.reals = true;
      else if (typeof value === 'string') column.texts = true;
    }
  }
  return seen.map(({ integers, inexact, reals, texts }) => {
    if (texts || (reals && inexact)) return 'text';
    if (reals) return 'real';
    return integers ? 'integer' : 'text';
  });
}

function fitted(value: QueryValue, kind: ColumnKind | undefined): QueryValue {
  if (value === null) return null;
  if (kind === 'text') return String(value);
  return kind === 'real' ? Number(value) : value;
}
