import { createHash } from 'node:crypto';
import { resourceNames } from '../../contract/lists.ts';
import type { ListNumbers, MirrorNumbers } from '../../serve/metrics.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { diedRun } from './died-run.ts';
import { lastCompletedAt } from './last-completed.ts';
import { type ReportData, readReport, tookMs } from './report-data.ts';
import type { ReportPeriod } from './report-period.ts';
import { readUnknownFields } from './unknown-fields.ts';

/** Reads what a mirror comes to: its numbers and its report. It never writes. */
export class ReportReader implements Disposable {
  readonly #file: MirrorFile;

  /** @throws MirrorFileError where there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** A short text that changes whenever a run has changed what the mirror holds, and only then. */
  revision(): string {
    const newest = this.#file.sqlite.prepare(newestRun).raw().get() ?? [];
    return createHash('sha256').update(JSON.stringify(newest)).digest('base64url').slice(0, 20);
  }

  /** The numbers, all of one state of the file and from its record of runs: they stay right when a process starts anew. */
  figures(): MirrorNumbers {
    const { sqlite } = this.#file;
    const died = diedRun(sqlite) !== null;
    const numbersOf = (resource: string): ListNumbers => ({
      resource,
      recordCount: sqlite.prepare<[string], number>(recordCountOfList).pluck().get(resource) ?? null,
      lastCompletedAt: lastCompletedAt(sqlite, resource),
      last: sqlite.prepare<[string], ListNumbers['last']>(lastOfList).get(resource) ?? null,
      unknownFields: new Set(readUnknownFields(sqlite, resource).map(({ field }) => field)).size,
      totals: sqlite.prepare(totalsOfList).get(resource) as ListNumbers['totals'],
    });
    return sqlite.transaction(() => ({
      runs: sqlite
        .prepare<[], MirrorNumbers['runs'][number]>(countsOfRuns)
        .all()
        .map(run => (died && run.status === 'running' ? { ...run, status: 'died' } : run)),
      lists: resourceNames.map(numbersOf),
    }))();
  }

  /** What the report tells, read in slices; until it is done, nothing else can be asked of this reader. */
  *report(period: ReportPeriod): Generator<void, ReportData> {
    const { sqlite } = this.#file;
    const died = diedRun(sqlite);
    // One state of the file, whatever a run writes meanwhile.
    sqlite.exec('BEGIN');
    try {
      return yield* readReport(sqlite, died, period);
    } finally {
      sqlite.exec('ROLLBACK');
    }
  }
}

const listMs = tookMs('sync_run_resources');

const totalsOfList = `
  SELECT coalesce(sum(inserted), 0) AS inserted, coalesce(sum(updated), 0) AS updated,
    coalesce(sum(removed), 0) AS removed, coalesce(sum(rejected), 0) AS rejected,
    coalesce(sum(requests), 0) AS requests, coalesce(sum(retries), 0) AS retries,
    coalesce(sum(bytes), 0) AS bytes, coalesce(sum(${listMs}), 0) AS durationMs
  FROM sync_run_resources WHERE resource = ?`;

const lastOfList = `
  SELECT completeness, coalesce(page_count, 0) * max(walks, 1) AS pages,
    coalesce(${listMs}, 0) AS durationMs, rejected, removals_withheld AS removalsWithheld, undecided
  FROM sync_run_resources WHERE resource = ? AND status NOT IN ('running', 'interrupted')
  ORDER BY run_id DESC LIMIT 1`;

const recordCountOfList = `
  SELECT record_count FROM sync_run_resources WHERE resource = ? AND record_count IS NOT NULL
  ORDER BY run_id DESC LIMIT 1`;

const countsOfRuns = 'SELECT status, "trigger", count(*) AS count FROM sync_runs GROUP BY status, "trigger"';

// Whatever a run changes, it records in the same transaction in its own row or that of one of its lists.
const newestRun = `
  SELECT r.id, r.status, r.started_at, r.completed_at, r.base_url,
    (SELECT group_concat(l.resource || ' ' || l.status || ' ' || coalesce(l.checksum, ''), ';')
     FROM sync_run_resources l WHERE l.run_id = r.id) AS lists
  FROM sync_runs r ORDER BY r.id DESC LIMIT 1`;
