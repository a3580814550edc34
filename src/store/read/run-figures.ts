import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { resourceNames } from '../../contract/lists.ts';

/** How many runs ended (or go on) in one way. */
export interface RunCount {
  readonly status: string;
  readonly trigger: string;
  readonly count: number;
}

/** The last run of a list that has ended. */
export interface LastListRun {
  readonly runId: number;
  readonly status: string;
  readonly mode: string | null;
  readonly completeness: string | null;
  readonly pages: number;
  readonly durationMs: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
}

/** What all runs of a list came to, added up. */
export interface ListTotals {
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly rejected: number;
  readonly requests: number;
  readonly retries: number;
  readonly bytes: number;
  readonly durationMs: number;
}

/** The numbers of one list. */
export interface ListFigures {
  readonly resource: string;
  /** Records after the last run that wrote the list; null where none has. */
  readonly recordCount: number | null;
  readonly lastCompletedAt: string | null;
  readonly last: LastListRun | null;
  readonly totals: ListTotals;
}

/** The numbers of a mirror, all from its record of runs: they stay right when a process starts anew. */
export interface RunFigures {
  readonly runs: readonly RunCount[];
  readonly lists: readonly ListFigures[];
}

const listMs = "round((unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec')) * 1000)";

const totalsOfList = `
  SELECT coalesce(sum(inserted), 0) AS inserted, coalesce(sum(updated), 0) AS updated,
    coalesce(sum(removed), 0) AS removed, coalesce(sum(rejected), 0) AS rejected,
    coalesce(sum(requests), 0) AS requests, coalesce(sum(retries), 0) AS retries,
    coalesce(sum(bytes), 0) AS bytes, coalesce(sum(${listMs}), 0) AS durationMs
  FROM sync_run_resources WHERE resource = ?`;

const lastOfList = `
  SELECT run_id AS runId, status, mode, completeness, coalesce(page_count, 0) * max(walks, 1) AS pages,
    coalesce(${listMs}, 0) AS durationMs, rejected, removals_withheld AS removalsWithheld
  FROM sync_run_resources WHERE resource = ? AND status NOT IN ('running', 'interrupted')
  ORDER BY run_id DESC LIMIT 1`;

const recordCountOfList = `
  SELECT record_count FROM sync_run_resources WHERE resource = ? AND record_count IS NOT NULL
  ORDER BY run_id DESC LIMIT 1`;

const lastCompletedOfList = `
  SELECT completed_at FROM sync_run_resources WHERE resource = ? AND status = 'completed'
  ORDER BY run_id DESC LIMIT 1`;

/** Reads the numbers of a mirror, all of one state of the file. */
export function readFigures(sqlite: Database.Database): RunFigures {
  const one = (sql: string, resource: string): unknown => sqlite.prepare(sql).pluck().get(resource) ?? null;
  const listFigures = (resource: string): ListFigures => ({
    resource,
    recordCount: one(recordCountOfList, resource) as number | null,
    lastCompletedAt: one(lastCompletedOfList, resource) as string | null,
    last: sqlite.prepare<[string], LastListRun>(lastOfList).get(resource) ?? null,
    totals: sqlite.prepare<[string], ListTotals>(totalsOfList).get(resource) as ListTotals,
  });
  return sqlite.transaction(() => ({
    runs: sqlite
      .prepare<[], RunCount>(
        'SELECT status, "trigger", count(*) AS count FROM sync_runs GROUP BY status, "trigger"',
      )
      .all(),
    lists: resourceNames.map(listFigures),
  }))();
}

// Whatever a run changes, it records in the same transaction in its own row or that of one of its lists.
const newestRun = `
  SELECT r.id, r.status, r.started_at, r.completed_at, r.base_url,
    (SELECT group_concat(l.resource || ' ' || l.status || ' ' || coalesce(l.checksum, l.digest, ''), ';')
     FROM sync_run_resources l WHERE l.run_id = r.id) AS lists
  FROM sync_runs r ORDER BY r.id DESC LIMIT 1`;

/** A short text that changes whenever a run has changed what the mirror holds, and only then. */
export function readRevision(sqlite: Database.Database): string {
  const newest = sqlite.prepare(newestRun).raw().get() ?? [];
  return createHash('sha256').update(JSON.stringify(newest)).digest('base64url').slice(0, 20);
}
