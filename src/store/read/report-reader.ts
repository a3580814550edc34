import { createHash } from 'node:crypto';
import { and, count, desc, eq, isNotNull, notInArray, type SQLWrapper, sql } from 'drizzle-orm';
import { resourceNames } from '../../contract/lists.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { firstValue } from '../tables/query.ts';
import { syncRunResources, syncRuns } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';
import { diedRun } from './died-run.ts';
import { lastCompletedAt } from './last-completed.ts';
import { type ReportData, readReport, tookMs } from './report-data.ts';
import type { ReportPeriod } from './report-period.ts';
import { readUnknownFields } from './unknown-fields.ts';

/** The numbers of a list that are shown as metrics. */
export interface ListNumbers {
  readonly resource: string;
  /** Records after the last run that wrote the list; null if none has. */
  readonly recordCount: number | null;
  readonly lastCompletedAt: string | null;
  /** The last run of the list that has ended. */
  readonly last: {
    readonly completeness: string | null;
    readonly pages: number;
    readonly durationMs: number;
    readonly rejected: number;
    readonly removalsWithheld: number;
    readonly undecided: number;
  } | null;
  /** The number of fields that the service sends and that have no column. Each name counts once. */
  readonly unknownFields: number;
  /** The sums over all runs of the list. */
  readonly totals: {
    readonly inserted: number;
    readonly updated: number;
    readonly removed: number;
    readonly rejected: number;
    readonly requests: number;
    readonly retries: number;
    readonly bytes: number;
    readonly durationMs: number;
  };
}

/** The numbers of a mirror that are shown as metrics. */
export interface MirrorNumbers {
  readonly runs: readonly { readonly status: string; readonly trigger: string; readonly count: number }[];
  readonly lists: readonly ListNumbers[];
}

/** Reads the numbers and the report of a mirror. It never writes. */
export class ReportReader implements Disposable {
  readonly #file: MirrorFile;

  /** @throws MirrorFileError if there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** A short text that changes whenever a run has changed the mirror, and only then. */
  revision(): string {
    const newest = this.#file.sqlite.prepare(newestRun).raw().get() ?? [];
    return createHash('sha256').update(JSON.stringify(newest)).digest('base64url').slice(0, 20);
  }

  /** The numbers, all from one state of the file and from its record of runs. So they stay right when a process is started again. */
  figures(): MirrorNumbers {
    const { sqlite } = this.#file;
    const died = diedRun(sqlite) !== null;
    const numbersOf = (resource: string): ListNumbers => ({
      resource,
      recordCount: firstValue(sqlite, recordCountOfList, resource) ?? null,
      lastCompletedAt: lastCompletedAt(sqlite, resource),
      last: (prepare(sqlite, lastOfList).get(resource) as ListNumbers['last'] | undefined) ?? null,
      unknownFields: new Set(readUnknownFields(sqlite, resource).map(({ field }) => field)).size,
      totals: prepare(sqlite, totalsOfList).get(resource) as ListNumbers['totals'],
    });
    return sqlite.transaction(() => ({
      runs: prepare(sqlite, countsOfRuns)
        .all()
        .map(run => (died && run.status === 'running' ? { ...run, status: 'died' } : run)),
      lists: resourceNames.map(numbersOf),
    }))();
  }

  /** The data of the report, read in slices. Until it is done, nothing else can be asked of this reader. */
  *report(period: ReportPeriod): Generator<void, ReportData> {
    const { sqlite } = this.#file;
    const died = diedRun(sqlite);
    // One state of the file, even if a run writes meanwhile.
    sqlite.exec('BEGIN');
    try {
      return yield* readReport(sqlite, died, period);
    } finally {
      sqlite.exec('ROLLBACK');
    }
  }
}

const of = syncRunResources;
const listMs = tookMs(of);

function totalsOfList(resource: string) {
  const total = (column: SQLWrapper) => sql<number>`coalesce(sum(${column}), 0)`;
  const { inserted, updated, removed, rejected, requests, retries, bytes } = of;
  return select({
    inserted: total(inserted),
    updated: total(updated),
    removed: total(removed),
    rejected: total(rejected),
    requests: total(requests),
    retries: total(retries),
    bytes: total(bytes),
    durationMs: total(listMs),
  })
    .from(of)
    .where(eq(of.resource, resource));
}

function lastOfList(resource: string) {
  const { completeness, rejected, removalsWithheld, undecided } = of;
  const pages = sql<number>`coalesce(${of.pageCount}, 0) * max(${of.walks}, 1)`;
  const durationMs = sql<number>`coalesce(${listMs}, 0)`;
  return select({ completeness, pages, durationMs, rejected, removalsWithheld, undecided })
    .from(of)
    .where(and(eq(of.resource, resource), notInArray(of.status, ['running', 'interrupted'])))
    .orderBy(desc(of.runId))
    .limit(1);
}

function recordCountOfList(resource: string) {
  return select({ recordCount: of.recordCount })
    .from(of)
    .where(and(eq(of.resource, resource), isNotNull(of.recordCount)))
    .orderBy(desc(of.runId))
    .limit(1);
}

function countsOfRuns() {
  const { status, trigger } = syncRuns;
  return select({ status, trigger, count: count() }).from(syncRuns).groupBy(status, trigger);
}

// A run records every change in its own row or in that of one of its lists, in the same transaction.
// By hand: an aggregate of another table in each row.
const newestRun = `
  SELECT r.id, r.status, r.started_at, r.completed_at, r.base_url,
    (SELECT group_concat(l.resource || ' ' || l.status || ' ' || coalesce(l.checksum, ''), ';')
     FROM sync_run_resources l WHERE l.run_id = r.id) AS lists
  FROM sync_runs r ORDER BY r.id DESC LIMIT 1`;
