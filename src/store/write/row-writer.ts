import { Sum } from '../../contract/sum.ts';
import { type WireWriter, wireConnection, wireWriter } from '../../contract/wire.ts';
import { GateError } from '../../proof/gate.ts';
import type { ConnectionTable, EndedConnection } from '../tables/connection-table.ts';
import type { ListTable, NewRecord } from '../tables/list-table.ts';
import { History } from './history.ts';
import type { OpenTransaction } from './transaction.ts';

/** One change to a record, as it is made; `record` and `before` are JSON in the service's shape. */
export interface RecordChange {
  readonly resource: string;
  readonly operation: 'insert' | 'update' | 'removal';
  readonly recordId: number;
  readonly record: string;
  readonly before: string | null;
}

/** Told of each change as it is made. */
export type ChangeObserver = (change: RecordChange) => void;

/** What a `RowWriter` needs besides the transaction. */
export interface RowWriterOptions {
  readonly table: ListTable;
  readonly connections: ConnectionTable;
  readonly runId: number;
  /** M, what the list's rows come to before. */
  readonly sum: Sum;
  readonly observe: ChangeObserver | undefined;
}

/** Writes a list's rows with the history of what that ends, and keeps M, the sum over the rows, current with every change. */
export class RowWriter {
  readonly history: History;
  readonly counts = { inserted: 0, updated: 0, removed: 0 };
  /** M as it is now. */
  readonly sum = new Sum();
  readonly #table: ListTable;
  readonly #connections: ConnectionTable;
  readonly #runId: number;
  readonly #observe: ChangeObserver | undefined;
  readonly #write: WireWriter;

  constructor({ sqlite }: OpenTransaction, { table, connections, runId, sum, observe }: RowWriterOptions) {
    const { list } = table;
    this.#table = table;
    this.#connections = connections;
    this.#runId = runId;
    this.#observe = observe;
    this.history = new History(sqlite, list, connections, runId);
    this.#write = wireWriter(list, id => connections.read(id));
    this.sum.addSum(sum);
  }

  /**
   * Inserts a record and returns its row's id.
   *
   * @throws GateError where another row has that id: what was read holds the id twice, or was not all that there is to read.
   */
  insert(record: NewRecord): number {
    const { list } = this.#table;
    if (record.id !== null && this.#table.has(record.id))
      throw new GateError(`id ${record.id} would stand in ${list.resource} twice`);
    const id = this.#table.insert(record, this.#runId);
    this.sum.add(record.content);
    this.counts.inserted++;
    this.#observe?.({ ...this.#change(id), operation: 'insert', record: this.#write(record), before: null });
    return id;
  }

  /** Inserts records into a list without ids and returns their rows' ids, in the same order. */
  insertAll(records: readonly NewRecord[]): number[] {
    if (this.#observe !== undefined) return records.map(record => this.insert(record));
    for (const { content } of records) this.sum.add(content);
    this.counts.inserted += records.length;
    return this.#table.insertAll(records, this.#runId);
  }

  update(id: number, record: NewRecord): void {
    const row = this.#table.read(id);
    this.#observe?.({
      ...this.#change(id),
      operation: 'update',
      record: this.#write(record),
      before: this.#write(row.record),
    });
    this.history.endRecord(row, 'update');
    this.sum.subtractHex(row.content);
    this.#table.update(id, record, this.#runId);
    this.sum.add(record.content);
    if (row.changedRunId !== this.#runId) this.counts.updated++;
  }

  remove(id: number): void {
    const row = this.#table.read(id);
    this.#observe?.({
      ...this.#change(id),
      operation: 'removal',
      record: this.#write(row.record),
      before: null,
    });
    this.history.endRecord(row, 'removal');
    this.sum.subtractHex(row.content);
    this.#table.remove(id);
    // What stood only within this run was never the mirror's word.
    if (row.firstSeenRunId === this.#runId) this.counts.inserted--;
    else this.counts.removed++;
  }

  /** Ends versions of connections. Of those that say something else now a dry run is told; that others come and go follows from the records. */
  endConnections(ended: readonly EndedConnection[]): void {
    this.history.endConnections(ended);
    if (this.#observe === undefined) return;
    for (const { row } of ended) {
      const now = this.#connections.read(row.id);
      if (now === undefined) continue;
      const said = { record: wireConnection(now), before: wireConnection(row) };
      this.#observe({ resource: 'connections', operation: 'update', recordId: row.id, ...said });
    }
  }

  #change(recordId: number): Pick<RecordChange, 'resource' | 'recordId'> {
    return { resource: this.#table.list.resource, recordId };
  }
}
