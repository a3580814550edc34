import { stringify } from 'csv-stringify/sync';
import { instantMs } from '../contract/time.ts';
import type { CellValue, Column } from '../store/read/cells.ts';

/** Spreadsheets recognise a formula by a sign at the text's beginning, also after characters that they ignore there. */
const formula = /^[\s"'“”\u00ad\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|^[\t\r]/;

/** Rows that are turned into text together: a call for each row would cost more than the row. */
const rowsPerCall = 500;

/** The rows of a file, which might not fit into memory. */
export type Rows = Iterable<readonly CellValue[]>;

/**
 * Rows as comma-separated values by RFC 4180, piece by piece: an empty text is quoted, a null is not, and an array is JSON. In a single
 * column a null is quoted, too, because readers skip empty lines. For a spreadsheet they begin with a byte order mark, times are in UTC to the second, and texts that it would run begin with an apostrophe.
 */
export function* csvPieces(columns: readonly Column[], rows: Rows, forSpreadsheet = false) {
  // A carriage return alone ends a line for some readers, and a tab or semicolon a cell for some spreadsheets.
  const quoted = { quoted_match: /[\r\n\t;]|^$/ };
  const csv = (some: Rows) => stringify([...some], quoted);
  const isTime = columns.map(({ kind }) => kind === 'time' || kind === 'instant');
  yield (forSpreadsheet ? '\ufeff' : '') + csv([columns.map(({ name }) => name)]);
  const cellOf = (value: CellValue, at: number) => {
    if (value === null) return columns.length === 1 ? '' : null;
    const cell = typeof value === 'object' ? JSON.stringify(value) : value;
    if (!forSpreadsheet || typeof cell !== 'string') return cell;
    // Every spreadsheet reads this form, in any language.
    const ms = isTime[at] ? instantMs(cell) : null;
    if (ms !== null) return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
    return formula.test(cell) ? `'${cell}` : cell;
  };
  for (const some of inBatches(rows, rowsPerCall)) yield csv(some.map(row => row.map(cellOf)));
}

/** Rows in batches, so that work which costs the same for many rows is done once for them. */
export function* inBatches<T>(rows: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
