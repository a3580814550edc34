import { and, asc, desc, eq, getTableColumns, gte, ne, sql } from 'drizzle-orm';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { syncRunResources, syncRuns, unknownFields } from '../tables/schema.ts';
import { diedRun, statusAsSaid } from './died-run.ts';

/** A row of `sync_runs`, with the field names of Drizzle. */
export type RunRow = typeof syncRuns.$inferSelect;

/** A row of `sync_run_resources`: how one list of a run ended. */
export type RunResourceRow = typeof syncRunResources.$inferSelect;

/** A run as it is recorded, with its lists in the order of their definition. */
export interface RecordedRun extends RunRow {
  readonly resources: readonly RunResourceRow[];
}

/** The state of one list of the mirror. */
export interface ListStatus {
  readonly resource: string;
  readonly recordCount: number;
  /** The newest run that worked on the list, however it ended; null if none has. */
  readonly lastRun: (RunResourceRow & { readonly baseUrl: string }) | null;
  /** When the last completed run of the list ended; null if none has. */
  readonly lastCompletedAt: string | null;
  readonly lastFullAt: string | null;
  /** Fields that the service sends and no column exists for. */
  readonly unknownFields: readonly Omit<typeof unknownFields.$inferSelect, 'resource'>[];
  /** The newest run of the list that has ended; null if none has. */
  readonly lastEnded: RunResourceRow | null;
}

const { resource: _resource, ...seenField } = getTableColumns(unknownFields);

/** Reads the states of the lists of a mirror, and its runs. It loads little of the program, so it starts at once. */
export class RunReader implements Disposable {
  readonly #file: MirrorFile;

  /** @throws MirrorFileError if there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** The newest runs, the newest first. */
  runs(limit: number): RecordedRun[] {
    const { orm, sqlite } = this.#file;
    const died = diedRun(sqlite);
    const runs = orm.select().from(syncRuns).orderBy(desc(syncRuns.id)).limit(limit).all();
    // No list of their ids, because SQLite accepts only a limited number of parameters.
    const sinceOldest = gte(syncRunResources.runId, runs.at(-1)?.id ?? 0);
    const resources = orm.select().from(syncRunResources).where(sinceOldest).all();
    const byRun = Map.groupBy(resources, ({ runId }) => runId);
    return runs.map(run => ({
      ...run,
      status: statusAsSaid(run.status, run.id, died),
      resources: inOrder(byRun.get(run.id) ?? []).map(list => ({
        ...list,
        status: statusAsSaid(list.status, run.id, died),
      })),
    }));
  }

  /** The newest run, with `died` as its status if its process is gone; null if none is recorded. */
  newestRun(): RunRow | null {
    const { orm, sqlite } = this.#file;
    const died = diedRun(sqlite);
    const run = orm.select().from(syncRuns).orderBy(desc(syncRuns.id)).limit(1).get();
    return run === undefined ? null : { ...run, status: statusAsSaid(run.status, run.id, died) };
  }

  /** The state of each list, in the order of their definition. */
  status(): ListStatus[] {
    const died = diedRun(this.#file.sqlite);
    return this.#file.sqlite.transaction(() => lists.map(list => this.#statusOf(list, died)))();
  }

  #statusOf(list: ListDefinition, died: number | null): ListStatus {
    const { orm, sqlite } = this.#file;
    const last = orm
      .select({ resource: syncRunResources, baseUrl: syncRuns.baseUrl })
      .from(syncRunResources)
      .innerJoin(syncRuns, eq(syncRuns.id, syncRunResources.runId))
      .where(eq(syncRunResources.resource, list.resource))
      .orderBy(desc(syncRunResources.runId))
      .limit(1)
      .get();
    const completed = sqlite
      .prepare<{ resource: string; mode: string | null }, string | null>(
        `SELECT completed_at FROM sync_run_resources
         WHERE resource = @resource AND status = 'completed' AND (@mode IS NULL OR mode = @mode) ORDER BY run_id DESC LIMIT 1`,
      )
      .pluck();
    return {
      resource: list.resource,
      recordCount: sqlite.prepare<[], number>(`SELECT count(*) FROM ${list.table}`).pluck().get() ?? 0,
      lastRun:
        last === undefined
          ? null
          : {
              ...last.resource,
              status: statusAsSaid(last.resource.status, last.resource.runId, died),
              baseUrl: last.baseUrl,
            },
      lastEnded: this.#lastEndedOf(list.resource),
      lastCompletedAt: completed.get({ resource: list.resource, mode: null }) ?? null,
      lastFullAt: completed.get({ resource: list.resource, mode: 'full' }) ?? null,
      unknownFields: orm
        .select(seenField)
        .from(unknownFields)
        .where(and(eq(unknownFields.resource, list.resource), sql`${unknownFields.recordCount} is not 0`))
        .orderBy(asc(unknownFields.field), asc(unknownFields.jsonType))
        .all(),
    };
  }

  #lastEndedOf(resource: string): RunResourceRow | null {
    const isEnded = and(eq(syncRunResources.resource, resource), ne(syncRunResources.status, 'running'));
    const rows = this.#file.orm.select().from(syncRunResources).where(isEnded);
    return rows.orderBy(desc(syncRunResources.runId)).limit(1).get() ?? null;
  }
}

function inOrder(resources: readonly RunResourceRow[]): RunResourceRow[] {
  return lists.flatMap(list => resources.filter(({ resource }) => resource === list.resource));
}
