import type { Column as FileColumn } from '../contract/cells.ts';
import { printable, printableJson } from '../printable.ts';
import type { QueryValue } from '../store/read/query.ts';
import { inBatches } from './csv.ts';
import { renderTable } from './table.ts';
import { tableWriter } from './table-file.ts';

/** The formats that `query` prints, the first of them by default. */
export const queryFormats = ['table', 'csv', 'json', 'ndjson', 'parquet', 'xlsx'] as const;

/** One of the formats that `query` prints. */
export type QueryFormat = (typeof queryFormats)[number];

type Row = readonly QueryValue[];

/** A result: the names of its columns, and its rows, which can be read again. */
export interface QueryResult {
  readonly columns: readonly string[];
  rows(): Iterable<Row>;
}

/** A result as text or bytes, piece by piece. Its memory does not grow with the rows. */
export async function queryPieces(
  { columns, rows }: QueryResult,
  format: QueryFormat,
  width: number,
): Promise<Iterable<string | Uint8Array>> {
  if (format === 'table') return tablePieces(columns, rows(), width);
  if (format === 'json') return jsonPieces(columns, rows());
  if (format === 'ndjson') return objectsOf(columns, rows()).map(object => `${object}\n`);
  const write = await tableWriter(format);
  const texts = columns.map((name): FileColumn => ({ name, kind: 'text' }));
  if (format !== 'parquet') return write(texts, rows());
  // SQLite has types for values, and Parquet for columns: all values are read once more to find these.
  const typed = typedColumns(columns, rows());
  const fitted = Iterator.from(rows()).map(row =>
    row.map((value, at) => {
      if (value === null || typed[at]?.kind === 'integer') return value;
      return typed[at]?.kind === 'real' ? Number(value) : String(value);
    }),
  );
  return write(typed, fitted);
}

/** A longer table repeats its heading, because the widths are computed for this many rows. */
const rowsPerTable = 1_000;

function* tablePieces(columns: readonly string[], rows: Iterable<Row>, width: number): Generator<string> {
  const names = columns.map(printable);
  let isFirst = true;
  for (const some of inBatches(rows, rowsPerTable)) {
    const cells = some.map(row => row.map(value => (value === null ? '' : String(value))));
    yield `${isFirst ? '' : '\n'}${renderTable(names, cells, width)}`;
    isFirst = false;
  }
  if (isFirst) yield renderTable(names, [], width);
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

/** A column is a whole number or a real one if all of its values are; reals beside numbers that a double can't hold are texts. */
function typedColumns(columns: readonly string[], rows: Iterable<Row>): FileColumn[] {
  const seen = columns.map(() => new Set<string>());
  for (const row of rows)
    for (const [at, value] of row.entries()) {
      if (typeof value === 'bigint' && BigInt(Number(value)) !== value) seen[at]?.add('inexact');
      if (value !== null) seen[at]?.add(typeof value);
    }
  return columns.map((name, at) => {
    const has = (type: string) => seen[at]?.has(type) === true;
    if (has('string') || (has('number') && has('inexact'))) return { name, kind: 'text' };
    if (has('number')) return { name, kind: 'real' };
    return { name, kind: has('bigint') ? 'integer' : 'text' };
  });
}
