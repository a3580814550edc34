import type { MirrorRecord } from '../../contract/record.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import type { NewRecord } from '../tables/list-table.ts';
import type { ListContext } from './list-context.ts';
import { FreshRows, IndexedRows, type RowFinder } from './row-finder.ts';
import { RowWriter } from './row-writer.ts';
import type { OpenTransaction } from './transaction.ts';

/** A list's rows inside an open transaction, with the connections that they refer to. */
export class ListRows {
  readonly transaction: OpenTransaction;
  readonly connections: ConnectionTable;
  readonly writer: RowWriter;
  readonly #indexes: string[];
  #finder: RowFinder;
  readonly #context: ListContext;

  /** @param isFresh whether the list has no rows yet: then `buildIndexes` makes its indexes. */
  constructor(transaction: OpenTransaction, context: ListContext, isFresh: boolean) {
    const { table, run, sum } = context;
    this.transaction = transaction;
    this.#context = context;
    this.connections = new ConnectionTable(transaction.sqlite);
    const leavesIndexesOut = isFresh && context.list.identity.by === 'content';
    this.#indexes = leavesIndexesOut ? table.dropIndexes() : [];
    this.#finder = leavesIndexesOut ? new FreshRows() : new IndexedRows(table);
    this.writer = new RowWriter(transaction, { table, connections: this.connections, runId: run.id, sum });
  }

  /** Finds the rows with the same contents as records. */
  get finder(): RowFinder {
    return this.#finder;
  }

  /** Makes the indexes that were left out while rows were inserted. */
  buildIndexes(): void {
    if (this.#indexes.length === 0) return;
    for (const sql of this.#indexes.splice(0)) this.transaction.sqlite.exec(sql);
    this.#finder = new IndexedRows(this.#context.table);
  }

  /** Inserts a number of copies of a record, and returns their rows. */
  insertCopies(record: NewRecord, count: number): number[] {
    return Array.from({ length: count }, () => this.writer.insert(record));
  }

  /** Inserts records that the list does not have, and returns their rows. */
  insert(records: readonly MirrorRecord[]): number[] {
    const rows =
      this.#context.list.identity.by === 'content'
        ? this.writer.insertAll(records)
        : records.map(record => this.writer.insert(record));
    for (const [at, record] of records.entries()) this.#finder.note(record, rows[at] as number);
    return rows;
  }
}
