import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { resourceNames } from '../../contract/lists.ts';
import { openForReading } from '../file/open.ts';
import { diedRun } from './run-reader.ts';

/** The numbers of a list that are shown as metrics. */
export interface ListFigures {
  readonly resource: string;
  /** Records after the last run that wrote the list; null if none has. */
  readonly recordCount: number | null;
  readonly lastCompletedAt: string | null;
  /** The last run of the list that has ended; null if none has. */
  readonly last: {
    readonly completeness: string | null;
    readonly pages: number;
    readonly durationMs: number;
    readonly rejected: number;
    readonly removalsWithheld: number;
    readonly undecided: number;
  } | null;
  /** Fields that the service sends and that have no column. Each name counts once. */
  readonly unknownFields: number;
  /** The sums over all runs of the list. */
  readonly totals: Totals;
}

const summed = ['inserted', 'updated', 'removed', 'rejected', 'requests', 'retries', 'bytes'] as const;

/** Sums over runs. */
type Totals = Readonly<Record<(typeof summed)[number] | 'durationMs', number>>;

/** The numbers of a mirror that are shown as metrics. */
export interface MirrorFigures {
  readonly runs: readonly { readonly status: string; readonly trigger: string; readonly count: number }[];
  readonly lists: readonly ListFigures[];
  /** The labels of the newest run. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The numbers before the first run. */
export const figuresBeforeFirstRun: MirrorFigures = {
  runs: [],
  labels: {},
  lists: resourceNames.map(resource => ({
    resource,
    recordCount: null,
    lastCompletedAt: null,
    last: null,
    unknownFields: 0,
    totals: Object.fromEntries([...summed, 'durationMs'].map(name => [name, 0])) as Totals,
  })),
};

/**
 * The numbers of a mirror, from its record of runs, so they stay right when a process is started again.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readFigures(path: string): MirrorFigures {
  using file = openForReading(path);
  const { sqlite } = file;
  const died = diedRun(sqlite) !== null;
  const runs = sqlite.prepare<[], MirrorFigures['runs'][number]>(
    'SELECT status, "trigger", count(*) AS count FROM sync_runs GROUP BY 1, 2',
  );
  const labels = sqlite
    .prepare<[], string | null>('SELECT labels FROM sync_runs ORDER BY id DESC LIMIT 1')
    .pluck();
  return sqlite.transaction(() => ({
    runs: runs.all().map(run => (died && run.status === 'running' ? { ...run, status: 'died' } : run)),
    lists: resourceNames.map(resource => listFigures(sqlite, resource)),
    labels: JSON.parse(labels.get() ?? '{}'),
  }))();
}

/** How long a run took for a list, in milliseconds; 0 if the clock was set back meanwhile. */
const durationMs =
  "max(0, round((unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec')) * 1000))";

function listFigures(sqlite: Database.Database, resource: string): ListFigures {
  const newest = <T>(columns: string, condition: string): T | undefined =>
    sqlite
      .prepare<[string], T>(
        `SELECT ${columns} FROM sync_run_resources WHERE resource = ? AND ${condition} ORDER BY run_id DESC LIMIT 1`,
      )
      .get(resource);
  const totals = sqlite.prepare<[string], Totals>(
    `SELECT ${summed.map(name => `total(${name}) AS ${name}`).join(', ')}, total(${durationMs}) AS durationMs
     FROM sync_run_resources WHERE resource = ?`,
  );
  const unknown = sqlite.prepare<[string], number>(
    'SELECT count(DISTINCT field) FROM unknown_fields WHERE resource = ? AND record_count IS NOT 0',
  );
  return {
    resource,
    recordCount:
      newest<{ count: number }>('record_count AS count', 'record_count IS NOT NULL')?.count ?? null,
    lastCompletedAt: newest<{ at: string }>('completed_at AS at', "status = 'completed'")?.at ?? null,
    last:
      newest<NonNullable<ListFigures['last']>>(
        `completeness, rejected, removals_withheld AS removalsWithheld, undecided,
         coalesce(page_count, 0) * max(walks, 1) AS pages, coalesce(${durationMs}, 0) AS durationMs`,
        "status NOT IN ('running', 'interrupted')",
      ) ?? null,
    unknownFields: unknown.pluck().get(resource) ?? 0,
    totals: totals.get(resource) as Totals,
  };
}

/**
 * A short text that changes whenever a run or an erasure has changed the mirror, and only then. A run records every change in its
 * own row or in that of one of its lists, in the same transaction.
 */
export function revisionOf(sqlite: Database.Database): string {
  const newest = sqlite
    .prepare<[]>(
      `SELECT r.id, r.status, r.started_at, r.completed_at, r.base_url,
         (SELECT group_concat(l.resource || ' ' || l.status || ' ' || coalesce(l.checksum, ''), ';')
          FROM sync_run_resources l WHERE l.run_id = r.id) AS lists,
         (SELECT max(leaf_index) FROM sync_receipts) AS receipt
       FROM sync_runs r ORDER BY r.id DESC LIMIT 1`,
    )
    .raw();
  return createHash('sha256')
    .update(JSON.stringify(newest.get() ?? []))
    .digest('base64url')
    .slice(0, 20);
}
