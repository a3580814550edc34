import type Database from 'better-sqlite3';
import { hash16, Sum } from '../../contract/sum.ts';
import { ContentSum } from './content-sums.ts';
import { firstValues } from './query.ts';

/**
 * Tables that say what no receipt does (an error's words, how many bytes came, whose word on a name counts). Each of their rows
 * carries a fingerprint over all its other columns, and the sum of these is kept.
 */
export const fingerprintedTables = [
  'connections',
  'rejected_records',
  'sync_run_resources',
  'sync_runs',
] as const;

/** A table whose rows each carry a hash over all that they say. */
export type FingerprintedTable = (typeof fingerprintedTables)[number];

/** Under what the sum of a table's fingerprints is kept, beside the sums of contents. */
export const fingerprintSum = 'fingerprints';

type Value = string | number | Buffer | null;

/** The fingerprints of one table's rows, within the transaction that writes them. */
export class Fingerprints {
  readonly #table: FingerprintedTable;
  readonly #columns: string;
  readonly #read: Database.Statement<[number], Value[]>;
  readonly #write: Database.Statement<[Buffer, number]>;
  readonly #sqlite: Database.Database;
  readonly #sum: ContentSum;

  constructor(sqlite: Database.Database, table: FingerprintedTable) {
    this.#sqlite = sqlite;
    this.#table = table;
    this.#sum = new ContentSum(sqlite, table, fingerprintSum);
    const others = "SELECT name FROM pragma_table_info(?) WHERE name <> '_fingerprint'";
    const names = firstValues<string>(sqlite, others, table);
    this.#columns = ['_fingerprint', ...names].map(name => `"${name}"`).join(', ');
    this.#read = sqlite
      .prepare<[number], Value[]>(`SELECT ${this.#columns} FROM ${table} WHERE rowid = ?`)
      .raw();
    this.#write = sqlite.prepare(`UPDATE ${table} SET _fingerprint = ? WHERE rowid = ?`);
  }

  /** Notes what a row says, after it was written. */
  set(rowId: number): void {
    const [before, ...values] = this.#read.get(rowId) ?? [];
    const fingerprint = fingerprintOf(values);
    if (Buffer.isBuffer(before)) this.#sum.subtract(before);
    this.#sum.add(fingerprint);
    this.#write.run(fingerprint, rowId);
  }

  /** Whether a row says what docmirror wrote. */
  holds(rowId: number): boolean {
    const [stored, ...values] = this.#read.get(rowId) ?? [];
    return Buffer.isBuffer(stored) && fingerprintOf(values).equals(stored);
  }

  /** Takes a row out of the sum, before it is deleted. */
  drop(rowId: number): void {
    const before = this.#read.get(rowId)?.[0];
    if (Buffer.isBuffer(before)) this.#sum.subtract(before);
  }

  /** Writes the sum; to be called before the transaction ends. */
  save(): void {
    this.#sum.save();
  }

  /** Notes what every row says, where a file has just got its fingerprints. */
  setAll(): void {
    for (const rowId of firstValues<number>(this.#sqlite, `SELECT rowid FROM ${this.#table}`))
      this.set(rowId);
    this.save();
  }

  /** Whether the kept sum is that of what the rows say. */
  isSum(said: Sum): boolean {
    return this.#sum.current.equals(said);
  }

  /** Keeps the sum over what every row says, whatever was kept before. */
  sumAnew(): void {
    this.#sum.replace(this.check(() => undefined));
  }

  /** Reads every row, tells those that do not say what their fingerprints say, and returns the sum over what all of them say. */
  check(onAltered: (rowId: number) => void): Sum {
    const sum = new Sum();
    const rows = this.#sqlite
      .prepare<[], [number, ...Value[]]>(`SELECT rowid, ${this.#columns} FROM ${this.#table}`)
      .raw();
    for (const [rowId, stored, ...values] of rows.iterate()) {
      const fingerprint = fingerprintOf(values);
      sum.add(fingerprint);
      if (!Buffer.isBuffer(stored) || !fingerprint.equals(stored)) onAltered(rowId);
    }
    return sum;
  }
}

function fingerprintOf(values: readonly Value[]): Buffer {
  return hash16(
    JSON.stringify(values.map(value => (Buffer.isBuffer(value) ? value.toString('hex') : value))),
  );
}
