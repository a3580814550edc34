import type Database from 'better-sqlite3';
import { and, count, isNotNull, lte } from 'drizzle-orm';
import type { StoredConnection } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { readWireConnection, wireConnection, wireWriter } from '../../contract/wire.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ListTable } from '../tables/list-table.ts';
import { mergeSorted } from '../tables/merge-sorted.ts';
import { firstValue } from '../tables/query.ts';
import { stoodAfterRun, versionsAfterRun } from '../tables/record-lives.ts';
import { restoredVersions } from '../tables/restored-versions.ts';
import { rowsTable } from '../tables/rows-table.ts';
import { recordHistory } from '../tables/schema.ts';
import type { Provenance, StandingConnection, StandingRecord } from '../tables/standing-record.ts';
import { select } from '../tables/statement.ts';

const knownMax = 10_000;

/** The mirror in its present state or in its state after a run, composed from the rows and the history. */
export class MirrorState {
  readonly #sqlite: Database.Database;
  readonly #asOfRunId: number | null;
  readonly #connections: ConnectionTable;
  /** Connections that were read recently: most records refer to few. */
  readonly #known = new Map<number, StoredConnection | undefined>();
  /** Connections that were different then, or did not exist; made when first needed. */
  #then: ReadonlyMap<number, StandingConnection> | undefined;

  /** @param asOfRunId null for the present state. */
  constructor(sqlite: Database.Database, asOfRunId: number | null) {
    this.#sqlite = sqlite;
    this.#asOfRunId = asOfRunId;
    this.#connections = new ConnectionTable(sqlite);
  }

  /** A list's records in the order of their ids, one at a time. */
  records(list: ListDefinition): Generator<StandingRecord> {
    const rows = new ListTable(this.#sqlite, list).rows();
    const ended = (runId: number) =>
      restoredVersions(list, versionsAfterRun(this.#sqlite, list.resource, runId));
    return this.#standing<StandingRecord>(rows, ended);
  }

  /** The connections in the order of their ids. */
  connections(): Generator<StandingConnection> {
    const ended = (runId: number) => this.#endedConnections(runId);
    return this.#standing<StandingConnection>(this.#connections.rows(), ended);
  }

  /**
   * The rows. For a state after a run: the rows that existed then and, in the same order, versions that existed then and have ended
   * since.
   */
  *#standing<T extends Provenance & { readonly id: number }>(
    rows: Generator<T>,
    ended: (runId: number) => Iterable<T>,
  ): Generator<T> {
    const runId = this.#asOfRunId;
    if (runId === null) {
      yield* rows;
      return;
    }
    const stood = () => rows.filter(({ changedRunId }) => changedRunId <= runId);
    yield* mergeSorted([stood, () => ended(runId)], (left, right) => left.id < right.id);
  }

  /** How many records `records` or, for `connections`, `connections` yields. */
  count(resource: string): number {
    const runId = this.#asOfRunId;
    const rows = rowsTable(resource);
    const all = () => select({ count: count() }).from(rows);
    if (runId === null) return firstValue(this.#sqlite, all) ?? 0;
    const standing = (run: number) => all().where(lte(rows.changedRunId, run));
    const ended = (of: string, run: number, sameRun: number) =>
      select({ count: count() })
        .from(recordHistory)
        .where(and(stoodAfterRun(of, run, sameRun), isNotNull(recordHistory.record)));
    return (
      (firstValue(this.#sqlite, standing, runId) ?? 0) +
      (firstValue(this.#sqlite, ended, resource, runId, runId) ?? 0)
    );
  }

  /** A list's records in the service's shape, with the names that the connections had then. */
  wire(list: ListDefinition): Iterable<string> {
    const write = wireWriter(list, id => this.#connectionOf(id));
    return this.records(list).map(({ record }) => write(record));
  }

  wireConnections(): Iterable<string> {
    return this.connections().map(wireConnection);
  }

  /** The name that a connection had then; null if it had none. */
  connectionName(id: number): string | null {
    return this.#connectionOf(id)?.name ?? null;
  }

  #connectionOf(id: number): StoredConnection | undefined {
    if (!this.#known.has(id)) {
      if (this.#known.size >= knownMax) this.#known.clear();
      this.#known.set(id, this.#readConnection(id));
    }
    return this.#known.get(id);
  }

  #readConnection(id: number): StoredConnection | undefined {
    if (this.#asOfRunId === null) return this.#connections.read(id);
    this.#then ??= new Map([...this.#endedConnections(this.#asOfRunId)].map(each => [each.id, each]));
    return this.#then.get(id) ?? this.#connections.read(id);
  }

  *#endedConnections(runId: number): Generator<StandingConnection> {
    for (const version of versionsAfterRun(this.#sqlite, 'connections', runId)) {
      const { firstSeenRunId, validFromRunId, record } = version;
      if (record === null) continue;
      yield { ...readWireConnection(record), firstSeenRunId, changedRunId: validFromRunId };
    }
  }
}
