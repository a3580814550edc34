import type Database from 'better-sqlite3';
import { connectionContent, type StoredConnection } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { readWireConnection, type WireWriter, wireConnection, wireWriter } from '../../contract/wire.ts';
import type { ConnectionClaims } from '../tables/connection-claims.ts';
import type { ConnectionTable, EndedConnection } from '../tables/connection-table.ts';
import type { StoredRow } from '../tables/list-table.ts';
import { type StoredVersion, versionColumns } from '../tables/record-lives.ts';
import type { Provenance } from '../tables/standing-record.ts';

/**
 * Writes each version that ends, in the service's own shape, within the transaction that ends it. A run ends at most one
 * version of a record: what stood only within a run was never the mirror's word.
 */
export class History {
  readonly #insert: Database.Statement;
  readonly #endedInRun: Database.Statement<[string, number, number], StoredVersion>;
  readonly #setEnding: Database.Statement;
  readonly #removedInRun: Database.Statement<[number], StoredVersion>;
  readonly #remove: Database.Statement;
  readonly #runId: number;
  readonly #resource: string;
  readonly #write: WireWriter;
  readonly #renamedInRun: Database.Statement<[number, number], string>;
  readonly #connections: ConnectionTable;
  /** Connections as they were before this run renamed or removed them. */
  readonly #before = new Map<number, StoredConnection | undefined>();

  constructor(sqlite: Database.Database, list: ListDefinition, connections: ConnectionTable, runId: number) {
    this.#runId = runId;
    this.#resource = list.resource;
    this.#connections = connections;
    this.#write = wireWriter(list, id => this.#beforeRun(id));
    this.#renamedInRun = sqlite
      .prepare<[number, number], string>(
        `SELECT record FROM record_history
         WHERE resource = 'connections' AND record_id = ? AND valid_to_run_id = ? ORDER BY id LIMIT 1`,
      )
      .pluck();
    this.#insert = sqlite.prepare(
      `INSERT INTO record_history
         (resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record, content)
       VALUES (@resource, @recordId, @firstSeenRunId, @validFromRunId, @validToRunId, @endedBy, @record, @content)`,
    );
    const ended = `SELECT ${versionColumns} FROM record_history`;
    this.#endedInRun = sqlite.prepare(
      `${ended} WHERE resource = ? AND record_id = ? AND valid_to_run_id = ? AND ended_by = 'update'`,
    );
    this.#removedInRun = sqlite.prepare(
      `${ended} WHERE valid_to_run_id = ? AND ended_by = 'removal' AND +resource = 'connections'`,
    );
    this.#remove = sqlite.prepare('DELETE FROM record_history WHERE id = ?');
    this.#setEnding = sqlite.prepare('UPDATE record_history SET ended_by = ? WHERE id = ?');
  }

  endRecord(row: StoredRow, endedBy: 'update' | 'removal'): void {
    this.#end(this.#resource, row, endedBy, () => ({
      record: this.#write(row.record),
      content: Buffer.from(row.content, 'hex'),
    }));
  }

  /**
   * Takes the version back that this run ended by an update, if the record says again what that version says: then nothing has changed.
   *
   * @returns that version; null if there is none.
   */
  takeBack(recordId: number, content: Buffer): StoredVersion | null {
    const version = this.#endedInRun.get(this.#resource, recordId, this.#runId);
    if (version === undefined || version.content !== content.toString('hex')) return null;
    this.#remove.run(version.id);
    return version;
  }

  endConnections(ended: readonly EndedConnection[]): void {
    for (const { row, endedBy } of ended) {
      if (row.changedRunId !== this.#runId) this.#before.set(row.id, row);
      this.#end('connections', row, endedBy, () => ({
        record: wireConnection(row),
        content: connectionContent(row),
      }));
    }
  }

  /** Puts connections back that went with the rows of a list before this one in the run, and of which this one speaks: they never ended. */
  reviveConnections(claims: ConnectionClaims): void {
    for (const version of this.#removedInRun.all(this.#runId)) {
      const { id, recordId, record } = version;
      if (claims.get(recordId) === undefined || this.#connections.read(recordId) !== undefined) continue;
      this.#remove.run(id);
      if (record !== null) this.#connections.revive(readWireConnection(record), version);
    }
  }

  /** A connection as it stood before the run: this list may have changed it since, or one that went before. */
  #beforeRun(id: number): StoredConnection | undefined {
    if (!this.#before.has(id)) {
      const renamed = this.#renamedInRun.get(id, this.#runId);
      this.#before.set(id, renamed === undefined ? this.#connections.read(id) : readWireConnection(renamed));
    }
    return this.#before.get(id);
  }

  #end(
    resource: string,
    row: Provenance & { readonly id: number },
    endedBy: 'update' | 'removal',
    write: () => { readonly record: string; readonly content: Buffer },
  ): void {
    if (row.changedRunId === this.#runId) {
      if (endedBy === 'removal') this.#turnIntoRemoval(resource, row.id);
      return;
    }
    this.#insert.run({
      resource,
      recordId: row.id,
      firstSeenRunId: row.firstSeenRunId,
      validFromRunId: row.changedRunId,
      validToRunId: this.#runId,
      endedBy,
      ...write(),
    });
  }

  /** What this run updated and then removed, as two lists may do with a connection, was removed as it stood before the run. */
  #turnIntoRemoval(resource: string, recordId: number): void {
    const version = this.#endedInRun.get(resource, recordId, this.#runId);
    if (version !== undefined) this.#setEnding.run('removal', version.id);
  }
}
