import type Database from 'better-sqlite3';
import type { ListDefinition } from '../contract/lists.ts';
import { type StoredConnection, type WireWriter, wireConnection, wireWriter } from '../contract/wire.ts';
import type { ConnectionTable, EndedConnection } from './connection-table.ts';
import type { StoredRow } from './list-table.ts';

/** Writes each version that ends, in the service's own shape, within the transaction that ends it. */
export class History {
  readonly #insert: Database.Statement;
  readonly #runId: number;
  readonly #resource: string;
  readonly #write: WireWriter;
  /** Connections as they were before this run renamed or removed them. */
  readonly #before = new Map<number, StoredConnection>();

  constructor(sqlite: Database.Database, list: ListDefinition, connections: ConnectionTable, runId: number) {
    this.#runId = runId;
    this.#resource = list.resource;
    this.#write = wireWriter(list, id => this.#before.get(id) ?? connections.read(id));
    this.#insert = sqlite.prepare(
      `INSERT INTO record_history
         (resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  endRecord(row: StoredRow, endedBy: 'update' | 'removal'): void {
    this.#end(this.#resource, row, endedBy, this.#write(row.record));
  }

  endConnections(ended: readonly EndedConnection[]): void {
    for (const { row, endedBy } of ended) {
      if (!this.#before.has(row.id)) this.#before.set(row.id, row);
      this.#end('connections', row, endedBy, wireConnection(row));
    }
  }

  #end(
    resource: string,
    row: { id: number; firstSeenRunId: number; changedRunId: number },
    endedBy: 'update' | 'removal',
    record: string,
  ): void {
    // Two changes in one run leave one version: what stood between them was never seen by a reader.
    if (row.changedRunId === this.#runId && endedBy === 'update') return;
    this.#insert.run(resource, row.id, row.firstSeenRunId, row.changedRunId, this.#runId, endedBy, record);
  }
}
