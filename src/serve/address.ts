import type { Table } from '../store/read/records/table.ts';
import type { Sqlite } from '../store/read/sqlite.ts';
import type { QueryString } from './query.ts';

/** What a client asked for. Its parameters fit the schema of the address. */
export interface AskedFor {
  /** The path with its query, as it was sent. */
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryString;
}

/** An address whose answer is made from one state of the mirror, in a thread that reads. */
export interface Address {
  readonly path: string;
  /** The schema of its parameters. */
  readonly querystring: object;
  /** Throws an HttpError for what is not there, or does not fit; it reads a few rows at most. */
  readonly check?: (sqlite: Sqlite, asked: AskedFor) => void;
  readonly make: (sqlite: Sqlite, asked: AskedFor) => string;
  /** True if it can read all rows of a list. */
  readonly isLong: (query: QueryString) => boolean;
}

/** An address with a file for a spreadsheet, `NAME.csv`. */
export interface FileAddress {
  readonly name: string;
  readonly querystring: object;
  /** Throws an HttpError for parameters that do not fit; it reads nothing. */
  readonly check: (query: QueryString) => void;
  /** The rows, and how many they are. */
  readonly read: (sqlite: Sqlite, query: QueryString) => { readonly table: Table; readonly count: number };
}

/** The mirror that is served. */
export interface Site {
  readonly database: string;
  /** A list is too old after this, in milliseconds; null if none ever is. */
  readonly maxAgeMs: number | null;
}
