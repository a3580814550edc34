import type Database from 'better-sqlite3';
import { and, eq } from 'drizzle-orm';
import { connectionContent, type StoredConnection } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { readWireConnection, type WireWriter, wireConnection, wireWriter } from '../../contract/wire.ts';
import type { ConnectionTable, EndedConnection } from '../tables/connection-table.ts';
import type { StoredRow } from '../tables/list-table.ts';
import { recordHistory } from '../tables/schema.ts';
import type { Provenance } from '../tables/standing-record.ts';
import { prepare, prepareInsert, prepareValue, select, words } from '../tables/statement.ts';

/** Writes the versions of one list's records that end, and of the connections that they refer to. */
export class History {
  readonly #versions: EndedVersions;
  readonly #runId: number;
  readonly #resource: string;
  readonly #write: WireWriter;
  readonly #renamedInRun: Database.Statement<[recordId: number, runId: number], string | null>;
  readonly #connections: ConnectionTable;
  /** Connections as they were before this run renamed them. */
  readonly #before = new Map<number, StoredConnection | undefined>();

  constructor(sqlite: Database.Database, list: ListDefinition, connections: ConnectionTable, runId: number) {
    this.#versions = new EndedVersions(sqlite, runId);
    this.#runId = runId;
    this.#resource = list.resource;
    this.#connections = connections;
    this.#write = wireWriter(list, id => this.#beforeRun(id));
    this.#renamedInRun = prepareValue(sqlite, (id, run) =>
      select({ record: recordHistory.record })
        .from(recordHistory)
        .where(endedIn('connections', id, run))
        .orderBy(recordHistory.id)
        .limit(1),
    );
  }

  endRecord(row: StoredRow, endedBy: 'update' | 'removal'): void {
    this.#versions.end(this.#resource, row, endedBy, () => ({
      record: this.#write(row.record),
      content: Buffer.from(row.content, 'hex'),
    }));
  }

  endConnections(ended: readonly EndedConnection[]): void {
    for (const { row } of ended) if (row.changedRunId !== this.#runId) this.#before.set(row.id, row);
    this.#versions.endConnections(ended);
  }

  /** A connection as it was before the run, which can have changed it in this list or in an earlier one. */
  #beforeRun(id: number): StoredConnection | undefined {
    if (!this.#before.has(id)) {
      const renamed = this.#renamedInRun.get(id, this.#runId);
      this.#before.set(
        id,
        typeof renamed !== 'string' ? this.#connections.read(id) : readWireConnection(renamed),
      );
    }
    return this.#before.get(id);
  }
}

/**
 * Writes each version that ends, in the service's own shape, within the transaction that ends it. A run ends at most one version of
 * a record: states that existed only within a run do not count.
 */
export class EndedVersions {
  readonly #insert: ReturnType<typeof prepareEnd>;
  readonly #turnIntoRemoval: Database.Statement<[resource: string, recordId: number, runId: number]>;
  readonly #runId: number;

  constructor(sqlite: Database.Database, runId: number) {
    this.#runId = runId;
    this.#insert = prepareEnd(sqlite);
    const isUpdate = (resource: string, recordId: number, run: number) =>
      and(endedIn(resource, recordId, run), eq(recordHistory.endedBy, 'update'));
    this.#turnIntoRemoval = prepare(sqlite, (resource, id, run) =>
      words
        .update(recordHistory)
        .set({ endedBy: 'removal' })
        .where(isUpdate(resource, id, run)),
    );
  }

  /** @param write makes the stored form of the version. */
  end(
    resource: string,
    row: Provenance & { readonly id: number },
    endedBy: 'update' | 'removal',
    write: () => { readonly record: string; readonly content: Buffer },
  ): void {
    if (row.changedRunId === this.#runId) {
      // If this run updated the record first, the version from before the run is the one that was removed.
      if (endedBy === 'removal') this.#turnIntoRemoval.run(resource, row.id, this.#runId);
      return;
    }
    const { record, content } = write();
    const { firstSeenRunId, changedRunId } = row;
    this.#insert.run(resource, row.id, firstSeenRunId, changedRunId, this.#runId, endedBy, record, content);
  }

  endConnections(ended: readonly EndedConnection[]): void {
    for (const { row, endedBy } of ended)
      this.end('connections', row, endedBy, () => ({
        record: wireConnection(row),
        content: connectionContent(row),
      }));
  }
}

/** A condition: a run ended the version of a record. */
function endedIn(resource: string, recordId: number, runId: number) {
  return and(
    eq(recordHistory.resource, resource),
    eq(recordHistory.recordId, recordId),
    eq(recordHistory.validToRunId, runId),
  );
}

function prepareEnd(sqlite: Database.Database) {
  return prepareInsert(
    sqlite,
    recordHistory,
    'resource',
    'recordId',
    'firstSeenRunId',
    'validFromRunId',
    'validToRunId',
    'endedBy',
    'record',
    'content',
  );
}
