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

  constructor(transaction: OpenTransaction, context: ListContext) {
    this.transaction = transaction;
    this.#context = context;
    this.connections = new ConnectionTable(transaction.sqlite);
    const { table, run, observe } = context;
    this.writer = new RowWriter(transaction, {
      table,
      connections: this.connections,
      runId: run.id,
      observe,
    });
  }

  /** Inserts the new records of a page that has just arrived, and notes their rows on the staged page. */
  insertEarly(page: StagedPage, news: readonly PlacedRecord[], bytes: Buffer): StagedPage {
    if (page.rows === null) return page;
    const { table } = this.#context;
    const rows = Buffer.from(page.rows);
    for (const { position, record } of news) {
      // An id that came before stays as it came: the list grew, or it contradicts itself, which the proof finds out.
      const isKnown = record.id !== null && table.has(record.id);
      const row = isKnown ? table.find(record) : this.writer.insert(record);
      rows.writeDoubleLE(row ?? Number.NaN, position * Float64Array.BYTES_PER_ELEMENT);
    }
    // Where the transaction is given up, the page is all that is left of them.
    return { ...page, rows, bytes };
  }
}
