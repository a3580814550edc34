import type Database from 'better-sqlite3';
import { and, desc, eq, gte, ne, type SQL } from 'drizzle-orm';
import { lists } from '../../contract/lists.ts';
import type { RejectionCount } from '../../contract/results.ts';
import { isHeld } from '../file/lock-file.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import { type rejectedRecords, syncRunResources, syncRuns, type unknownFields } from '../tables/schema.ts';

/** A row of `sync_runs`, with the field names of Drizzle. */
export type RunRow = typeof syncRuns.$inferSelect;

/** A row of `sync_run_resources`: how one list of a run ended. */
export type RunResourceRow = typeof syncRunResources.$inferSelect;

/** A run as it is recorded, with its lists in the order of their definition. */
export interface RecordedRun extends RunRow {
  readonly resources: readonly RunResourceRow[];
}

type SeenField = Omit<typeof unknownFields.$inferSelect, 'resource'>;

/** The state of one list of the mirror. */
export interface ListStatus {
  readonly resource: string;
  readonly recordCount: number;
  /** The newest run that worked on the list, however it ended; null if none has. */
  readonly lastRun: (RunResourceRow & { readonly baseUrl: string }) | null;
  /** When the last completed run of the list ended; null if none has. */
  readonly lastCompletedAt: string | null;
  readonly lastFullAt: string | null;
  /** Fields that the service sends and no column exists for, without those that the last full sync no longer saw. */
  readonly unknownFields: readonly SeenField[];
  /** The newest run of the list that has ended; null if none has. */
  readonly lastEnded: RunResourceRow | null;
}

/** Reads the states of the lists of a mirror, and its runs. It loads little of the program, so it starts at once. */
export class RunReader implements Disposable {
  readonly #file: MirrorFile;
  readonly #died: number | null;

  /** @throws MirrorFileError if there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
    this.#died = diedRun(this.#file.sqlite);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** The newest runs, the newest first. The status of one whose process is gone is `died`. */
  runs(limit: number): RecordedRun[] {
    const { orm } = this.#file;
    const runs = orm.select().from(syncRuns).orderBy(desc(syncRuns.id)).limit(limit).all();
    // No list of their ids, because SQLite accepts only a limited number of parameters.
    const sinceOldest = gte(syncRunResources.runId, runs.at(-1)?.id ?? 0);
    const resources = orm.select().from(syncRunResources).where(sinceOldest).all();
    const byRun = Map.groupBy(resources, ({ runId }) => runId);
    return runs.map(run => ({
      ...this.#said(run, run.id),
      resources: lists.flatMap(({ resource }) =>
        (byRun.get(run.id) ?? [])
          .filter(row => row.resource === resource)
          .map(row => this.#said(row, run.id)),
      ),
    }));
  }

  /** The newest run, with `died` as its status if its process is gone; null if none is recorded. */
  newestRun(): RunRow | null {
    const run = this.#file.orm.select().from(syncRuns).orderBy(desc(syncRuns.id)).limit(1).get();
    return run === undefined ? null : this.#said(run, run.id);
  }

  /** The state of each list, in the order of their definition. */
  status(): ListStatus[] {
    const { sqlite, orm } = this.#file;
    const states = () =>
      lists.map(({ resource, table }): ListStatus => {
        const last = this.#newest(resource);
        const isCompleted = eq(syncRunResources.status, 'completed');
        const run = orm
          .select()
          .from(syncRuns)
          .where(eq(syncRuns.id, last?.runId ?? 0))
          .get();
        return {
          resource,
          recordCount: sqlite.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0,
          lastRun: last && { ...this.#said(last, last.runId), baseUrl: run?.baseUrl ?? '' },
          lastEnded: this.#newest(resource, ne(syncRunResources.status, 'running')),
          lastCompletedAt: this.#newest(resource, isCompleted)?.completedAt ?? null,
          lastFullAt:
            this.#newest(resource, and(isCompleted, eq(syncRunResources.mode, 'full')))?.completedAt ?? null,
          unknownFields: sqlite.prepare<[string], SeenField>(seenFields).all(resource),
        };
      });
    return sqlite.transaction(states)();
  }

  /** The newest run of a list for which a condition is true. */
  #newest(resource: string, condition?: SQL): RunResourceRow | null {
    const ofList = and(eq(syncRunResources.resource, resource), condition);
    const rows = this.#file.orm.select().from(syncRunResources).where(ofList);
    return rows.orderBy(desc(syncRunResources.runId)).limit(1).get() ?? null;
  }

  #said<T extends { readonly status: string }>(row: T, runId: number): T {
    const isDead = row.status === 'running' && this.#died !== null && runId <= this.#died;
    return isDead ? { ...row, status: 'died' } : row;
  }
}

const seenFields = `SELECT field, json_type AS jsonType, first_seen_run_id AS firstSeenRunId,
    last_seen_run_id AS lastSeenRunId, record_count AS recordCount
  FROM unknown_fields WHERE resource = ? AND record_count IS NOT 0 ORDER BY field, json_type`;

/**
 * The newest run whose process is gone: it is `running` in the table until the next run begins. Null if there is none.
 *
 * A run has the lock for as long as it is `running`. The lock is checked between two looks at the run. If nobody has the lock, and
 * the run is `running` before and after, it died.
 */
export function diedRun(sqlite: Database.Database): number | null {
  const newest = sqlite
    .prepare<[], number | null>("SELECT max(id) FROM sync_runs WHERE status = 'running'")
    .pluck();
  const runId = newest.get() ?? null;
  if (runId === null || isHeld(sqlite.name)) return null;
  return newest.get() === runId ? runId : null;
}

/** A rejected record as it is stored. Its text is null if it was erased, and in a share. */
export type RejectedRecord = Omit<typeof rejectedRecords.$inferSelect, 'content'>;

/**
 * How many records were rejected for each reason, those that still apply first; and the records that were rejected last, at most
 * `limit`.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readRejected(
  path: string,
  limit: number,
): { readonly counts: readonly RejectionCount[]; readonly records: readonly RejectedRecord[] } {
  using mirror = openForReading(path);
  const { sqlite } = mirror;
  sqlite.exec('BEGIN');
  type CountRow = Omit<RejectionCount, 'isCurrent'> & { readonly isCurrent: number | null };
  const counts = sqlite.prepare<[], CountRow>(
    `SELECT resource, reason, count(*) AS count, min(run_id) AS firstRunId, max(last_run_id) AS lastRunId,
       last_run_id = (SELECT max(l.run_id) FROM sync_run_resources l WHERE l.resource = r.resource AND l.${wroteListSql}) AS isCurrent
     FROM rejected_records r GROUP BY resource, reason, isCurrent
     ORDER BY isCurrent DESC, lastRunId DESC, count(*) DESC`,
  );
  const records = sqlite.prepare<[number], RejectedRecord>(
    `SELECT id, resource, run_id AS runId, last_run_id AS lastRunId, page_no AS pageNo, position, reason, record
     FROM rejected_records ORDER BY last_run_id DESC, id LIMIT ?`,
  );
  return {
    counts: counts.all().map(row => ({ ...row, isCurrent: row.isCurrent === 1 })),
    records: records.all(limit),
  };
}
