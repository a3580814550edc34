import type { ExportColumn, ExportValue } from '../store/read/export-tables.ts';
import { csvText } from './csv.ts';

/** Takes rows and hands them on as the content of a file, piece by piece. */
export interface TableEncoder {
  add(row: readonly ExportValue[]): void;
  finish(): void;
}

/** Rows that are turned into text together: a call a row costs more than the row. */
const rowsPerCall = 500;

/** Comma-separated values as `csvText` writes them; lists are JSON. */
export class CsvEncoder implements TableEncoder {
  readonly #write: (text: string) => void;
  readonly #forSpreadsheet: boolean;
  #rows: (readonly ExportValue[])[] = [];

  constructor(columns: readonly ExportColumn[], write: (text: string) => void, forSpreadsheet = false) {
    this.#write = write;
    this.#forSpreadsheet = forSpreadsheet;
    write(toCsv([columns.map(({ name }) => name)], forSpreadsheet));
  }

  add(row: readonly ExportValue[]): void {
    this.#rows.push(row);
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
  const flat = rows.map(row => row.map(value => (isList(value) ? JSON.stringify(value) : value)));
  return csvText(flat, forSpreadsheet);
}

function isList(value: ExportValue): value is Exclude<ExportValue, string | number | bigint | null> {
  return typeof value === 'object' && value !== null;
}
