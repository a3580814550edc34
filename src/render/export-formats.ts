import { instantMs } from '../contract/time.ts';
import type { ExportColumn, ExportValue } from '../store/read/export-tables.ts';
import { csvText } from './csv.ts';

/** Takes rows and writes them as the content of a file, piece by piece. */
export interface TableEncoder {
  add(row: readonly ExportValue[]): void;
  finish(): void;
}

/** Rows that are turned into text together: a call for each row would cost more than the row. */
const rowsPerCall = 500;

/**
 * Comma-separated values as `csvText` writes them; lists are JSON. For a spreadsheet they begin with a byte order mark,
 * which marks UTF-8, and times are in UTC, to the second, which spreadsheets can read.
 */
export class CsvEncoder implements TableEncoder {
  readonly #write: (text: string) => void;
  readonly #forSpreadsheet: boolean;
  readonly #isTime: readonly boolean[];
  #rows: (readonly ExportValue[])[] = [];

  constructor(columns: readonly ExportColumn[], write: (text: string) => void, forSpreadsheet = false) {
    this.#write = write;
    this.#forSpreadsheet = forSpreadsheet;
    this.#isTime = columns.map(({ kind }) => forSpreadsheet && (kind === 'time' || kind === 'instant'));
    write((forSpreadsheet ? '\ufeff' : '') + toCsv([columns.map(({ name }) => name)], forSpreadsheet));
  }

  add(row: readonly ExportValue[]): void {
    this.#rows.push(row.map((value, at) => (this.#isTime[at] === true ? plainTime(value) : value)));
    if (this.#rows.length >= rowsPerCall) this.#flush();
  }

  finish(): void {
    this.#flush();
  }

  #flush(): void {
    if (this.#rows.length > 0) this.#write(toCsv(this.#rows, this.#forSpreadsheet));
    this.#rows = [];
  }
}

function toCsv(rows: readonly (readonly ExportValue[])[], forSpreadsheet: boolean): string {
  const flat = rows.map(row =>
    row.map(value => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)),
  );
  return csvText(flat, forSpreadsheet);
}

/** A time as every spreadsheet reads it, in any language; a text that is not a time stays as it is. */
function plainTime(value: ExportValue): ExportValue {
  const ms = typeof value === 'string' ? instantMs(value) : null;
  return ms === null ? value : new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
