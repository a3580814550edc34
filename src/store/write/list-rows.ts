import { ConnectionTable } from '../tables/connection-table.ts';
import type { ListContext } from './list-context.ts';
import type { PlacedRecord } from './page-comparison.ts';
import { RowWriter } from './row-writer.ts';
import type { StagedPage } from './staging.ts';
import type { OpenTransaction } from './transaction.ts';

/** A list's rows inside an open transaction, with the connections that they refer to. */
export class ListRows {
  readonly transaction: OpenTransaction;
  readonly connections: ConnectionTable;
  readonly writer: RowWriter;
  readonly #context: ListContext;
  readonly #indexes: string[];

  /** @param isEmpty whether the list has no rows yet: its indexes are then made when `buildIndexes` is called. */
  constructor(transaction: OpenTransaction, context: ListContext, isEmpty: boolean) {
    this.transaction = transaction;
    this.#context = context;
    this.#indexes = isEmpty && context.list.identity.by === 'content' ? context.table.dropIndexes() : [];
    this.connections = new ConnectionTable(transaction.sqlite);
    const { table, run, observe, sum } = context;
    this.writer = new RowWriter(transaction, {
      table,
      connections: this.connections,
      runId: run.id,
      sum,
      observe,
    });
  }

  /** Makes the indexes again that were left out while rows were written as they arrived. */
  buildIndexes(): void {
    for (const sql of this.#indexes.splice(0)) this.transaction.sqlite.exec(sql);
  }

  /** Inserts the new records of a page that has just arrived, and notes their rows on the staged page. */
  insertOnArrival({ rows }: StagedPage, newRecords: readonly PlacedRecord[]): void {
    const { table } = this.#context;
    const note = (position: number, row: number) =>
      rows.writeDoubleLE(row, position * Float64Array.BYTES_PER_ELEMENT);
    if (table.list.identity.by === 'content') {
      const ids = this.writer.insertAll(newRecords.map(({ record }) => record));
      for (const [at, { position }] of newRecords.entries()) note(position, ids[at] as number);
      return;
    }
    for (const { position, record } of newRecords) {
      // An id that came before stays as it came: the list grew, or it contradicts itself, which the proof finds out.
      const isKnown = record.id !== null && table.has(record.id);
      note(position, (isKnown ? table.find(record) : this.writer.insert(record)) ?? Number.NaN);
    }
  }
}
