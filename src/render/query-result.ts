import { printable, printableJson } from '../printable.ts';
import type { Column, ResultColumn } from '../store/read/cells.ts';
import type { QueryValue } from '../store/read/query.ts';
import { inBatches } from './csv.ts';
import { renderTable } from './table.ts';
import { fileFormats, tableWriter } from './table-file.ts';

/** The formats that `query` prints, the first of them by default. */
export const queryFormats = ['table', 'json', ...fileFormats] as const;

type Row = readonly QueryValue[];

/** A result as text or bytes, piece by piece. Its memory does not grow with the rows, which can be read again. */
export async function queryPieces(
  columns: readonly ResultColumn[],
  rows: () => Iterable<Row>,
  format: (typeof queryFormats)[number],
  width: number,
) {
  const names = columns.map(({ name }) => name);
  if (format === 'table') return tablePieces(names, rows(), width);
  if (format === 'json') return jsonPieces(names, rows());
  if (format === 'ndjson') return objectsOf(names, rows()).map(object => `${object}\n`);
  const write = await tableWriter(format);
  if (format !== 'parquet') return write(columns, rows());
  // SQLite has types for values, and Parquet for columns: all values are read once more to find these.
  const typed = typedColumns(columns, rows());
  const fit = (value: QueryValue, at: number) => {
    if (value === null || typed[at]?.kind === 'integer') return value;
    return typed[at]?.kind === 'real' ? Number(value) : String(value);
  };
  const fitted = Iterator.from(rows()).map(row => row.map(fit));
  return write(typed, fitted);
}

/** On a terminal, the most characters of a cell. */
const cellMax = 1_000;

/** A longer table repeats its heading, because the widths are computed for this many rows. */
const rowsPerTable = 1_000;

function* tablePieces(columns: readonly string[], rows: Iterable<Row>, width: number): Generator<string> {
  const names = columns.map(printable);
  const isCut = (text: string) => Number.isFinite(width) && text.length > cellMax;
  const shown = (text: string) => (isCut(text) ? `${text.slice(0, cellMax)}…` : text);
  let between = '';
  for (const some of inBatches(rows, rowsPerTable)) {
    const cells = some.map(row => row.map(value => shown(String(value ?? ''))));
    yield between + renderTable(names, cells, width);
    between = '\n';
  }
  if (between === '') yield renderTable(names, [], width);
}

function* jsonPieces(columns: readonly string[], rows: Iterable<Row>): Generator<string> {
  let before = '[';
  for (const object of objectsOf(columns, rows)) {
    yield `${before}\n${object}`;
    before = ',';
  }
  yield before === '[' ? '[]\n' : '\n]\n';
}

function* objectsOf(columns: readonly string[], rows: Iterable<Row>): Generator<string> {
  const names = columns.map(name => `${JSON.stringify(name)}:`);
  const textOf = (value: QueryValue) => {
    if (typeof value === 'bigint') return String(value);
    // JSON has no number for what SQLite calls Inf.
    return JSON.stringify(value === null || Number.isFinite(value) ? value : String(value));
  };
  for (const row of rows)
    yield printableJson(`{${row.map((value, at) => names[at] + textOf(value)).join(',')}}`);
}

/**
 * A column has the kind of its declared type, unless a value says otherwise, so that files of several nights have the same types. Without
 * one it is a whole number or a real one if all of its values are. Reals beside numbers that a double can't hold are texts.
 */
function typedColumns(columns: readonly ResultColumn[], rows: Iterable<Row>): Column[] {
  const seen = columns.map(() => new Set<string>());
  for (const row of rows)
    for (const [at, value] of row.entries()) {
      if (typeof value === 'bigint' && BigInt(Number(value)) !== value) seen[at]?.add('inexact');
      if (value !== null) seen[at]?.add(typeof value);
    }
  return columns.map(({ name, declared }, at) => {
    const types = seen[at] ?? new Set();
    const isReal = types.has('number') || declared === 'real';
    const isText = types.has('string') || (isReal && types.has('inexact'));
    const isKnown = declared !== null || types.size > 0;
    if (isText || declared === 'text' || !isKnown) return { name, kind: 'text' };
    return { name, kind: isReal ? 'real' : 'integer' };
  });
}
