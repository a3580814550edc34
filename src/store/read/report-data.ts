import type Database from 'better-sqlite3';
import { and, count, desc, eq, min, ne, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { firstValue } from '../tables/query.ts';
import { rowsTable } from '../tables/rows-table.ts';
import { connections, rejectedRecords, syncRunResources, syncRuns } from '../tables/schema.ts';
import { prepare, prepareArrays, select } from '../tables/statement.ts';
import { statusAsSaid } from './died-run.ts';
import { type ExportTally, tallyExports } from './export-tally.ts';
import { isFull, isProven, lastCompletedAt } from './last-completed.ts';
import { type ChangesOfKind, readPeriodChanges } from './period-changes.ts';
import type { ReportPeriod } from './report-period.ts';
import { readUnknownFields, type SeenField } from './unknown-fields.ts';

/** The result of the newest ended run of a list. */
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

/** The reason why records of a list could not be read, and how many there were. */
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
  /** When a run last proved the list. */
  readonly lastProvenAt: string | null;
  readonly last: ReportListRun | null;
  readonly rejections: readonly Rejection[];
  /** Fields that the service sends and no column exists for. */
  readonly unknownFields: readonly SeenField[];
}

/** One run, with the sums of its lists. */
export interface ReportRun {
  readonly id: number;
  readonly status: string;
  readonly trigger: string;
  readonly startedAt: string;
  /** Null while it goes on, and if its process died. */
  readonly durationMs: number | null;
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly errorMessage: string | null;
}

/** All data of the report, from one state of the file. */
export interface ReportData {
  /** Null if no run is recorded. */
  readonly baseUrl: string | null;
  readonly lists: readonly ReportList[];
  readonly runCount: number;
  /** The newest first. */
  readonly runs: readonly ReportRun[];
  readonly exports: ExportTally;
  readonly connectionNames: ReadonlyMap<number, string | null>;
  /** The changes that the runs that ended in the period found. */
  readonly changes: readonly ChangesOfKind[];
  readonly period: ReportPeriod;
}

const runsShownMax = 60;
const reasonsShownMax = 5;

/** How long a run or a list in it took, by its row, in milliseconds. 0 if the clock was set back meanwhile. */
export const tookMs = ({ startedAt, completedAt }: typeof syncRuns | typeof syncRunResources): SQL<number> =>
  sql`max(0, round((unixepoch(${completedAt}, 'subsec') - unixepoch(${startedAt}, 'subsec')) * 1000))`;

function lastRunOfList(resource: string) {
  const of = syncRunResources;
  const { runId, status, completeness, rejected, removalsWithheld, undecided } = of;
  const { reason, errorCode, errorMessage } = of;
  const ending = { reason, errorCode, errorMessage };
  return select({ runId, status, completeness, rejected, removalsWithheld, undecided, ...ending })
    .from(of)
    .where(and(eq(of.resource, resource), ne(status, 'running')))
    .orderBy(desc(runId))
    .limit(1);
}

function rejectionsOfRun(runId: number, resource: string) {
  const of = rejectedRecords;
  return select({ reason: of.reason, count: count(), firstPageNo: sql<number>`${min(of.pageNo)}` })
    .from(of)
    .where(and(eq(of.lastRunId, runId), eq(of.resource, resource)))
    .groupBy(of.reason)
    .orderBy(desc(count()))
    .limit(reasonsShownMax);
}

function newestRuns() {
  const [run, list] = [syncRuns, syncRunResources];
  const { id, status, trigger, startedAt, errorMessage } = run;
  const total = (column: SQLWrapper) => sql<number>`coalesce(sum(${column}), 0)`;
  return select({
    id,
    status,
    trigger,
    startedAt,
    durationMs: sql<number | null>`${tookMs(run)}`,
    inserted: total(list.inserted),
    updated: total(list.updated),
    removed: total(list.removed),
    errorMessage,
  })
    .from(run)
    .leftJoin(list, eq(list.runId, id))
    .groupBy(id)
    .orderBy(desc(id))
    .limit(runsShownMax);
}

/**
 * Reads all data of the report. It yields now and then, so that a server can answer others meanwhile.
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
    baseUrl: firstValue(sqlite, newestBaseUrl) ?? null,
    lists: lists.map(list => readList(sqlite, list)),
    runCount: firstValue(sqlite, () => select({ count: count() }).from(syncRuns)) ?? 0,
    runs: prepare(sqlite, newestRuns)
      .all()
      .map(run => ({ ...run, status: statusAsSaid(run.status, run.id, diedRunId) })),
    exports,
    connectionNames: new Map(
      prepareArrays<[], [id: number, name: string | null]>(sqlite, () =>
        select({ id: connections.id, name: connections.name }).from(connections),
      ).all(),
    ),
    changes: readPeriodChanges(sqlite, period.span),
    period,
  };
}

function newestBaseUrl() {
  return select({ baseUrl: syncRuns.baseUrl }).from(syncRuns).orderBy(desc(syncRuns.id)).limit(1);
}

function readList(sqlite: Database.Database, { resource, title }: ListDefinition): ReportList {
  const last = prepare(sqlite, lastRunOfList).get(resource) ?? null;
  const table = rowsTable(resource);
  return {
    resource,
    title,
    recordCount: firstValue(sqlite, () => select({ count: count() }).from(table)) ?? 0,
    lastCompletedAt: lastCompletedAt(sqlite, resource),
    lastFullAt: lastCompletedAt(sqlite, resource, isFull),
    lastProvenAt: lastCompletedAt(sqlite, resource, isProven),
    last,
    unknownFields: readUnknownFields(sqlite, resource),
    rejections:
      last === null || last.rejected === 0 ? [] : prepare(sqlite, rejectionsOfRun).all(last.runId, resource),
  };
}
