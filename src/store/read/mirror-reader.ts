import { desc, eq, inArray } from 'drizzle-orm';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { type WireWriter, wireWriter } from '../../contract/wire.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { type Pruned, readPruned } from '../receipts/pruned.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { ListTable } from '../tables/list-table.ts';
import { syncRunResources, syncRuns } from '../tables/schema.ts';
import { type Change, selectChange } from './change.ts';
import { MirrorState } from './mirror-state.ts';

export type { Change };

/** A row of `sync_runs`, with its fields as Drizzle names them. */
export type RunRow = typeof syncRuns.$inferSelect;

/** A row of `sync_run_resources`: how one list of a run ended. */
export type RunResourceRow = typeof syncRunResources.$inferSelect;

/** A run as it stands in the record, with its lists in the order of their definition. */
export interface RecordedRun extends RunRow {
  readonly resources: readonly RunResourceRow[];
}

/** How one list of the mirror stands. */
export interface ListStatus {
  readonly resource: string;
  readonly recordCount: number;
  /** The newest run that worked on the list, however it ended; null where none has. */
  readonly lastRun: (RunResourceRow & { readonly baseUrl: string }) | null;
  /** When the last completed run of the list ended; null where none has. */
  readonly lastCompletedAt: string | null;
  readonly lastFullAt: string | null;
}

/** Records of a list, each as JSON text in the service's shape, and how many there are in all. */
export interface RecordPage {
  readonly records: readonly string[];
  readonly totalRecordCount: number;
}

/** Which changes to read. */
export interface ChangeQuery {
  /** Changes of later runs than this, as far as they have ended. */
  readonly sinceRunId: number;
  /** One resource, or null for all. */
  readonly resource: string | null;
}

const changesOfRun = `
  ${selectChange}
  FROM changes c
  WHERE c.run_id = @runId AND (@resource IS NULL OR c.resource = @resource)`;

/** Reads a mirror; never writes. Each answer is of one state of the file, also while a run writes. */
export class MirrorReader {
  readonly endedRuns: EndedRuns;
  readonly #file: MirrorFile;
  readonly #lists: ReadonlyMap<string, { table: ListTable; write: WireWriter }>;

  /** @throws MirrorFileError where there is no mirror, or it can't be read. */
  static open(path: string): MirrorReader {
    return new MirrorReader(openForReading(path));
  }

  private constructor(file: MirrorFile) {
    this.#file = file;
    this.endedRuns = new EndedRuns(file.sqlite);
    const connections = new ConnectionTable(file.sqlite);
    this.#lists = new Map(
      lists.map(list => [
        list.resource,
        { table: new ListTable(file.sqlite, list), write: wireWriter(list, id => connections.read(id)) },
      ]),
    );
  }

  /** How far back the history goes. */
  pruned(): Pruned {
    return readPruned(this.#file.sqlite);
  }

  close(): void {
    this.#file.close();
  }

  /** From here on everything is read from one state of the file, whatever a run writes meanwhile; until `close`. */
  holdStill(): void {
    this.#file.sqlite.exec('BEGIN');
  }

  /** Some of a list's records in the order of their ids. */
  page(list: ListDefinition, offset: number, limit: number): RecordPage {
    const { table, write } = this.#tableOf(list);
    return this.#file.sqlite.transaction(() => ({
      records: table.rowsAt(offset, limit).map(row => write(row.record)),
      totalRecordCount: table.count(),
    }))();
  }

  /** The newest run that is recorded, running or not; 0 where there is none. */
  newestRunId(): number {
    return (
      this.#file.orm.select({ id: syncRuns.id }).from(syncRuns).orderBy(desc(syncRuns.id)).limit(1).get()
        ?.id ?? 0
    );
  }

  /** The newest runs, the newest first. */
  runs(limit: number): RecordedRun[] {
    const { orm } = this.#file;
    const runs = orm.select().from(syncRuns).orderBy(desc(syncRuns.id)).limit(limit).all();
    const resources = orm
      .select()
      .from(syncRunResources)
      .where(
        inArray(
          syncRunResources.runId,
          runs.map(run => run.id),
        ),
      )
      .all();
    return runs.map(run => ({
      ...run,
      resources: lists.flatMap(list =>
        resources.filter(row => row.runId === run.id && row.resource === list.resource),
      ),
    }));
  }

  /** The changes of later runs, run by run, one at a time: however many they are, they take no memory. */
  *changes({ sinceRunId, resource }: ChangeQuery): Generator<Change> {
    for (const runId of this.endedRuns.since(sinceRunId)) yield* this.changesOfRun(runId, resource);
  }

  /** The changes of one run, of one resource or, for null, of all. */
  *changesOfRun(runId: number, resource: string | null): Generator<Change> {
    yield* this.#file.sqlite
      .prepare<{ runId: number; resource: string | null }, Change>(changesOfRun)
      .iterate({ runId, resource });
  }

  /** The mirror as it stood after a run or, for null, as it stands. */
  state(asOfRunId: number | null): MirrorState {
    return new MirrorState(this.#file.sqlite, asOfRunId);
  }

  /** How each list stands, in the order of their definition. */
  status(): ListStatus[] {
    return this.#file.sqlite.transaction(() => lists.map(list => this.#statusOf(list)))();
  }

  #statusOf(list: ListDefinition): ListStatus {
    const ended = this.#file.orm
      .select({ resource: syncRunResources, baseUrl: syncRuns.baseUrl })
      .from(syncRunResources)
      .innerJoin(syncRuns, eq(syncRuns.id, syncRunResources.runId))
      .where(eq(syncRunResources.resource, list.resource))
      .orderBy(desc(syncRunResources.runId));
    const last = ended.limit(1).get();
    return {
      resource: list.resource,
      recordCount: this.#tableOf(list).table.count(),
      lastRun: last === undefined ? null : { ...last.resource, baseUrl: last.baseUrl },
      lastCompletedAt: this.#lastCompleted(list, "status = 'completed'"),
      lastFullAt: this.#lastCompleted(list, "status = 'completed' AND mode = 'full'"),
    };
  }

  #lastCompleted(list: ListDefinition, condition: string): string | null {
    const newest = this.#file.sqlite
      .prepare<[string], string>(
        `SELECT completed_at FROM sync_run_resources WHERE resource = ? AND ${condition} ORDER BY run_id DESC LIMIT 1`,
      )
      .pluck()
      .get(list.resource);
    return newest ?? null;
  }

  #tableOf(list: ListDefinition): { table: ListTable; write: WireWriter } {
    const found = this.#lists.get(list.resource);
    if (found === undefined) throw new TypeError(`The mirror holds no list ${list.resource}.`);
    return found;
  }
}
