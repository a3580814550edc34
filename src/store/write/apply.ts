import type Database from 'better-sqlite3';
import { ExactItems } from '../../contract/exact-json.ts';
import type { FingerprintSum } from '../../contract/fingerprint.ts';
import type { PageContent } from '../../contract/page.ts';
import {
  type KnownIdentities,
  type MirrorRecord,
  type PageReader,
  type Rejection,
  scalarFields,
} from '../../contract/record.ts';
import { type WireWriter, wireWriter } from '../../contract/wire.ts';
import type { ConnectionTable } from '../tables/connection-table.ts';
import type { ListTable, StoredRow } from '../tables/list-table.ts';
import { History } from './history.ts';

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

/** What storing a page came to: the rows that its records stand in now, and the records that had to be turned away. */
export interface StoredPage {
  readonly rowIds: readonly number[];
  readonly turnedAway: readonly Rejection[];
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
  readonly #reader: PageReader;
  readonly #runId: number;
  readonly #history: History;
  readonly #observe: ChangeObserver | undefined;
  readonly #write: WireWriter;
  readonly #wasEmpty: boolean;
  readonly #claimsAreComplete: boolean;
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
    reader: PageReader;
    runId: number;
    wasEmpty: boolean;
    /** Whether all that the list says of connections was read. */
    claimsAreComplete: boolean;
    sum: FingerprintSum;
    observe: ChangeObserver | undefined;
  }) {
    this.#sqlite = options.sqlite;
    this.#table = options.table;
    this.#connections = options.connections;
    this.#reader = options.reader;
    this.#runId = options.runId;
    this.#wasEmpty = options.wasEmpty;
    this.#claimsAreComplete = options.claimsAreComplete;
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
   * Stores those of a page's records that were found to be new or changed.
   *
   * @param taken the rows that other records stand for already; rows that are stored here are added.
   */
  storeNews(page: PageContent, news: KnownIdentities, taken: TakenRows): StoredPage {
    const records = this.#reader.readAgain(page, news);
    return this.storeRecords(page, records, news.positions, taken);
  }

  /**
   * Stores all of a page's records; `taken` as above.
   *
   * @param isKept tells which rows must stay as they are: a changed twin of such a row is a record of its own.
   */
  storePage(page: PageContent, taken: TakenRows, isKept: (id: number) => boolean): StoredPage {
    const { records, positions } = this.#reader.read(page);
    return this.storeRecords(page, records, positions, taken, isKept);
  }

  /** Stores records of a page that were read just now; `taken` and `isKept` as above. */
  storeRecords(
    page: PageContent,
    records: readonly MirrorRecord[],
    positions: readonly number[],
    taken: TakenRows,
    isKept: (id: number) => boolean = () => false,
  ): StoredPage {
    const rowIds: number[] = [];
    const turnedAway: Rejection[] = [];
    for (const [at, record] of records.entries()) {
      const id = this.#store(record, taken, isKept);
      if (id !== null) {
        rowIds.push(id);
        continue;
      }
      const position = positions[at] as number;
      const reason = `id ${record.id}: the list holds this id more than once`;
      turnedAway.push({ position, reason, record: new ExactItems(page.text).itemText(position) });
    }
    return { rowIds, turnedAway };
  }

  /** Records a page's items that can't be read, and those that storing it turned away. */
  reject(pageNo: number, rejections: readonly Rejection[]): void {
    const { resource } = this.#table.list;
    for (const { position, reason, record } of rejections) {
      this.#reject.run(this.#runId, resource, pageNo, position, reason, record);
      this.#rejected++;
    }
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
      this.#unclaimNames(row);
      this.#table.remove(id);
      this.#removed++;
    }
  }

  /** Removes the connections that nothing refers to any more. */
  dropReleasedConnections(): void {
    this.#history.endConnections(this.#connections.removeUnreferenced(this.#released));
    this.#history.saveSums();
  }

  /** Inserts or updates a record and returns its row; null where that is taken already, in a list that allows no twins. */
  #store(record: MirrorRecord, taken: TakenRows, isKept: (id: number) => boolean): number | null {
    if (this.#wasEmpty) {
      const id = this.#insert(record, 0, taken);
      if (id !== null) return id;
    }
    const isFree = (id: number) => !taken.has(id);
    const same = this.#table.findSame(record, isFree);
    const mayChange = (id: number) => isFree(id) && (record.key === null || !isKept(id));
    const row = same ?? this.#table.find(record).find(mayChange);
    if (row === undefined) {
      return this.#insert(record, record.key === null ? 0 : this.#table.freeOccurrence(record.key), taken);
    }
    taken.add(row);
    if (same === undefined) this.#update(row, record);
    return row;
  }

  #insert(record: MirrorRecord, occurrence: number, taken: TakenRows): number | null {
    const id = this.#table.insert(record, occurrence, this.#runId);
    if (id !== null) this.#noteInsert(id, record, taken);
    return id;
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

  /** Where not every record was read, the one that goes may have been the one that gave a connection its name. */
  #unclaimNames({ record }: StoredRow): void {
    if (this.#claimsAreComplete) return;
    const { identity, connectionNameRank } = this.#table.list;
    const timeAt =
      identity.by === 'id'
        ? -1
        : scalarFields(this.#table.list).findIndex(field => field.name === identity.timeField);
    const time = timeAt < 0 ? null : (record.scalars[timeAt] as string | null);
    for (const value of [...record.scalars, ...record.arrays.flat()]) {
      if (typeof value === 'number') this.#connections.unclaim(value, connectionNameRank, time);
    }
  }

  #change(recordId: number): Pick<RecordChange, 'resource' | 'recordId'> {
    return { resource: this.#table.list.resource, recordId };
  }
}
