import type Database from 'better-sqlite3';
import type { FingerprintSum } from '../contract/fingerprint.ts';
import type { Page } from '../contract/page.ts';
import type { MirrorRecord, PageReader, Rejection } from '../contract/record.ts';
import { type WireWriter, wireWriter } from '../contract/wire.ts';
import type { ConnectionTable } from './connection-table.ts';
import { History } from './history.ts';
import type { ListTable, StoredRow } from './list-table.ts';

/** One change to a record, as it is made; `record` and `before` are JSON in the service's shape. */
export interface RecordChange {
  readonly resource: string;
  readonly operation: 'insert' | 'update' | 'removal';
  readonly recordId: number;
  readonly record: string;
  readonly before: string | null;
}

export type ChangeObserver = (change: RecordChange) => void;

/** Which rows of the mirror a record stands for already. */
export interface TakenRows {
  has(id: number): boolean;
  add(id: number): unknown;
}

/** What a list's rows came to by an `Application`. */
export interface ApplicationCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
}

/**
 * Writes what walks found into a list's tables, with the history of what that ends. It runs inside a transaction that the
 * caller opens and ends; a record that stands twice in a list with ids is rejected here, where it is known for sure.
 */
export class Application {
  readonly #sqlite: Database.Database;
  readonly #table: ListTable;
  readonly #connections: ConnectionTable;
  readonly #read: PageReader;
  readonly #runId: number;
  readonly #history: History;
  readonly #observe: ChangeObserver | undefined;
  readonly #write: WireWriter;
  readonly #wasEmpty: boolean;
  readonly #reject: Database.Statement;
  /** Connections that a row referred to before and may not any more. */
  readonly #released = new Set<number>();
  /** The sum over the rows' fingerprints, kept current with every change. */
  readonly #sum: FingerprintSum;
  #inserted = 0;
  #updated = 0;
  #removed = 0;
  #rejected = 0;
  #removalsWithheld = 0;

  constructor(options: {
    sqlite: Database.Database;
    table: ListTable;
    connections: ConnectionTable;
    read: PageReader;
    runId: number;
    wasEmpty: boolean;
    sum: FingerprintSum;
    observe: ChangeObserver | undefined;
  }) {
    this.#sqlite = options.sqlite;
    this.#table = options.table;
    this.#connections = options.connections;
    this.#read = options.read;
    this.#runId = options.runId;
    this.#wasEmpty = options.wasEmpty;
    this.#sum = options.sum;
    this.#observe = options.observe;
    this.#history = new History(this.#sqlite, this.#table.list, this.#connections, this.#runId);
    this.#write = wireWriter(this.#table.list, id => this.#connections.read(id));
    this.#reject = this.#sqlite.prepare(
      'INSERT INTO rejected_records (run_id, resource, page_no, position, reason, record) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  get history(): History {
    return this.#history;
  }

  get counts(): ApplicationCounts {
    return {
      inserted: this.#inserted,
      updated: this.#updated,
      removed: this.#removed,
      rejected: this.#rejected,
      removalsWithheld: this.#removalsWithheld,
    };
  }

  get digest(): string {
    return this.#sum.toString();
  }

  /**
   * Stores a page's records.
   *
   * @param positions which of its items to store; null for all of them.
   * @param taken the rows that other records stand for already; rows that are stored here are added.
   * @param keepsRejections whether its rejected records are recorded.
   */
  storePage(
    pageNo: number,
    page: Page,
    positions: readonly number[] | null,
    taken: TakenRows,
    keepsRejections: boolean,
  ): void {
    const isWanted = positions === null ? null : new Set(positions);
    const read = this.#read(page);
    read.records.forEach((record, at) => {
      const position = read.positions[at] as number;
      if (isWanted !== null && !isWanted.has(position)) return;
      if (this.#store(record, taken) || !keepsRejections) return;
      const reason = `id ${record.id}: the list holds this id more than once`;
      this.#rejectRecord(pageNo, { position, reason, record: JSON.stringify(page.items[position]) });
    });
    if (keepsRejections) for (const rejection of read.rejections) this.#rejectRecord(pageNo, rejection);
  }

  /** Removes the rows that no record stands for, unless they are more than `removalsMax`: then they are withheld, all of them. */
  removeMissing(isTaken: (id: number) => boolean, removalsMax: number): void {
    const missing: number[] = [];
    for (const id of this.#table.ids()) if (!isTaken(id)) missing.push(id);
    if (missing.length > removalsMax) {
      this.#removalsWithheld = missing.length;
      return;
    }
    for (const id of missing) {
      const row = this.#table.read(id);
      this.#observe?.({
        ...this.#change(id),
        operation: 'removal',
        record: this.#write(row.record),
        before: null,
      });
      this.#history.endRecord(row, 'removal');
      this.#release(row);
      this.#table.remove(id);
      this.#removed++;
    }
  }

  /** Removes the connections that nothing refers to any more. */
  dropReleasedConnections(): void {
    this.#history.endConnections(this.#connections.removeUnreferenced(this.#released));
  }

  /** Inserts or updates a record; false where its row is taken already, in a list that allows no twins. */
  #store(record: MirrorRecord, taken: TakenRows): boolean {
    if (this.#wasEmpty) {
      const id = this.#table.insert(record, 0, this.#runId);
      if (id !== null) {
        this.#noteInsert(id, record, taken);
        return true;
      }
    }
    const free = this.#table.find(record).filter(row => !taken.has(row.id));
    const row = free.find(({ fingerprint }) => fingerprint.equals(record.fingerprint)) ?? free[0];
    if (row !== undefined) {
      taken.add(row.id);
      if (!row.fingerprint.equals(record.fingerprint)) this.#update(row.id, record);
      return true;
    }
    const occurrence = record.key === null ? 0 : this.#table.freeOccurrence(record.key);
    const id = this.#table.insert(record, occurrence, this.#runId);
    if (id === null) return false;
    this.#noteInsert(id, record, taken);
    return true;
  }

  #noteInsert(id: number, record: MirrorRecord, taken: TakenRows): void {
    taken.add(id);
    this.#sum.add(record.fingerprint);
    this.#inserted++;
    this.#observe?.({ ...this.#change(id), operation: 'insert', record: this.#write(record), before: null });
  }

  #update(id: number, record: MirrorRecord): void {
    const row = this.#table.read(id);
    this.#observe?.({
      ...this.#change(id),
      operation: 'update',
      record: this.#write(record),
      before: this.#write(row.record),
    });
    this.#history.endRecord(row, 'update');
    this.#release(row);
    this.#table.update(id, record, this.#runId);
    this.#sum.add(record.fingerprint);
    if (row.changedRunId !== this.#runId) this.#updated++;
  }

  /** Takes a row's old version out of the sum, and notes the connections that it may leave behind. */
  #release(row: StoredRow): void {
    this.#sum.subtract(row.fingerprint);
    // Of a record's values only connection ids are numbers.
    for (const value of [...row.record.scalars, ...row.record.arrays.flat()]) {
      if (typeof value === 'number') this.#released.add(value);
    }
  }

  #change(recordId: number): Pick<RecordChange, 'resource' | 'recordId'> {
    return { resource: this.#table.list.resource, recordId };
  }

  #rejectRecord(pageNo: number, rejection: Rejection): void {
    const { position, reason, record } = rejection;
    this.#reject.run(this.#runId, this.#table.list.resource, pageNo, position, reason, record);
    this.#rejected++;
  }
}
