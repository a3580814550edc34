import type Database from 'better-sqlite3';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { firstValue } from '../tables/query.ts';
import { statusAsSaid } from './died-run.ts';
import { type ExportTally, tallyExports } from './export-tally.ts';
import { lastCompletedAt } from './last-completed.ts';
import { type ChangesOfKind, readPeriodChanges } from './period-changes.ts';
import type { ReportPeriod } from './report-period.ts';
import { readUnknownFields, type SeenField } from './unknown-fields.ts';

/** How the newest run of a list that has ended did. */
export interface ReportListRun {
  readonly runId: number;
  readonly status: string;
  readonly completeness: string | null;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly undecided: number;
  readonly reason: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** Why records of a list could not be read, and how many for that reason. */
export interface Rejection {
  readonly reason: string;
  readonly count: number;
  readonly firstPageNo: number;
}

/** One list, as the report shows it. */
export interface ReportList {
  readonly resource: string;
  readonly title: string;
  readonly recordCount: number;
  readonly lastCompletedAt: string | null;
  readonly lastFullAt: string | null;
  /** When a run last found that the list stood still, record for record. */
  readonly lastProvenAt: string | null;
  readonly last: ReportListRun | null;
  readonly rejections: readonly Rejection[];
  /** Fields that the service sends and no column exists for. */
  readonly unknownFields: readonly SeenField[];
}

/** One run, its lists added up. */
export interface ReportRun {
  readonly id: number;
  readonly status: string;
  readonly trigger: string;
  readonly startedAt: string;
  /** Null while it goes on, and where its process died. */
  readonly durationMs: number | null;
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly errorMessage: string | null;
}

/** Everything that the report tells, all of one state of the file. */
export interface ReportData {
  /** Null where no run is recorded. */
  readonly baseUrl: string | null;
  readonly lists: readonly ReportList[];
  readonly runCount: number;
  /** The newest first. */
  readonly runs: readonly ReportRun[];
  readonly exports: ExportTally;
  readonly connectionNames: ReadonlyMap<number, string | null>;
  /** What the runs that ended in the period found. */
  readonly changes: readonly ChangesOfKind[];
  readonly period: ReportPeriod;
}

const runsShownMax = 60;
const reasonsShownMax = 5;

/** How long a run or a list in it took, by its row, in SQL. A clock that was set back meanwhile says less than nothing. */
export const tookMs = (row: string): string =>
  `max(0, round((unixepoch(${row}.completed_at, 'subsec') - unixepoch(${row}.started_at, 'subsec')) * 1000))`;

const lastRunOfList = `
  SELECT run_id AS runId, status, completeness, rejected,
    removals_withheld AS removalsWithheld, undecided, reason, error_code AS errorCode, error_message AS errorMessage
  FROM sync_run_resources WHERE resource = ? AND status <> 'running' ORDER BY run_id DESC LIMIT 1`;

const rejectionsOfRun = `
  SELECT reason, count(*) AS count, min(page_no) AS firstPageNo FROM rejected_records
  WHERE last_run_id = ? AND resource = ? GROUP BY reason ORDER BY count DESC LIMIT ${reasonsShownMax}`;

const newestRuns = `
  SELECT r.id, r.status, r."trigger", r.started_at AS startedAt,
    ${tookMs('r')} AS durationMs,
    coalesce(sum(l.inserted), 0) AS inserted, coalesce(sum(l.updated), 0) AS updated,
    coalesce(sum(l.removed), 0) AS removed, r.error_message AS errorMessage
  FROM (SELECT * FROM sync_runs ORDER BY id DESC LIMIT ${runsShownMax}) r
  LEFT JOIN sync_run_resources l ON l.run_id = r.id
  GROUP BY r.id ORDER BY r.id DESC`;

/**
 * Reads all that the report tells. It yields now and then, so that a server can answer others meanwhile.
 *
 * @param diedRunId the run whose process is gone; null if there is none.
 */
export function* readReport(
  sqlite: Database.Database,
  diedRunId: number | null,
  period: ReportPeriod,
): Generator<void, ReportData> {
  const completedAt = lastCompletedAt(sqlite, 'document-exports');
  const knownMs = Math.min(period.nowMs, completedAt === null ? period.nowMs : Date.parse(completedAt));
  const exports = yield* tallyExports(sqlite, period, knownMs);
  return {
    baseUrl: firstValue<string>(sqlite, 'SELECT base_url FROM sync_runs ORDER BY id DESC LIMIT 1') ?? null,
    lists: lists.map(list => readList(sqlite, list)),
    runCount: firstValue(sqlite, 'SELECT count(*) FROM sync_runs') as number,
    runs: sqlite
      .prepare<[], ReportRun>(newestRuns)
      .all()
      .map(run => ({ ...run, status: statusAsSaid(run.status, run.id, diedRunId) })),
    exports,
    connectionNames: new Map(
      sqlite.prepare<[], [number, string | null]>('SELECT id, name FROM connections').raw().all(),
    ),
    changes: readPeriodChanges(sqlite, period.span),
    period,
  };
}

function readList(sqlite: Database.Database, { resource, title, table }: ListDefinition): ReportList {
  const last = sqlite.prepare<[string], ReportListRun>(lastRunOfList).get(resource) ?? null;
  return {
    resource,
    title,
    recordCount: firstValue(sqlite, `SELECT count(*) FROM ${table}`) as number,
    lastCompletedAt: lastCompletedAt(sqlite, resource),
    lastFullAt: lastCompletedAt(sqlite, resource, "mode = 'full'"),
    lastProvenAt: lastCompletedAt(sqlite, resource, "completeness = 'proven'"),
    last,
    unknownFields: readUnknownFields(sqlite, resource),
    rejections:
      last === null || last.rejected === 0
        ? []
        : sqlite.prepare<[number, string], Rejection>(rejectionsOfRun).all(last.runId, resource),
  };
}
