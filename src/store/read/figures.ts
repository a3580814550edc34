import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { resourceNames } from '../../contract/lists.ts';
import { openForReading } from '../file/open.ts';
import { diedRun } from './run-reader.ts';

/** A number of a list: the name of its metric without `docmirror_list_`, what it is, and its value in SQL. Without one it is 0. */
type ListNumber = readonly [name: string, help: string, sql: string, isUnknownAtFirst?: true];

const newest = (value: string, condition: string) =>
  `(SELECT ${value} FROM l WHERE ${condition} ORDER BY run_id DESC LIMIT 1)`;
const ofLast = (value: string) => newest(value, "status NOT IN ('running', 'interrupted')");
const completed = "status = 'completed'";

/** The numbers of each list that are shown as metrics. The last run is the last one that has ended. */
export const listNumbers: readonly ListNumber[] = [
  [
    'last_completed_timestamp_seconds',
    "When the list's last completed run ended, in seconds since 1970.",
    newest("unixepoch(completed_at, 'subsec')", completed),
    true,
  ],
  ['records', 'Records of the list in the mirror.', newest('record_count', 'record_count IS NOT NULL'), true],
  ['last_run_duration_seconds', "How long the list's last run took.", ofLast('coalesce(seconds, 0)'), true],
  [
    'last_run_pages_per_second',
    "Pages that the list's last run read, a second.",
    ofLast('coalesce(page_count, 0) * max(walks, 1) / nullif(seconds, 0)'),
    true,
  ],
  ['last_run_rejected', "Records that the list's last run could not read.", ofLast('rejected')],
  ['last_run_removals_withheld', "Removals that the list's last run withheld.", ofLast('removals_withheld')],
  [
    'last_run_undecided',
    "Known records whose presence the list's last run could not decide.",
    ofLast('undecided'),
  ],
  ['inserted_total', 'Records inserted by all runs.', 'total(inserted)'],
  ['updated_total', 'Records updated by all runs.', 'total(updated)'],
  ['removed_total', 'Records removed by all runs.', 'total(removed)'],
  ['rejected_total', 'Records that could not be read, by all runs.', 'total(rejected)'],
  ['requests_total', 'Requests sent by all runs, retries included.', 'total(requests)'],
  ['retries_total', 'Requests that were sent again, by all runs.', 'total(retries)'],
  ['received_bytes_total', 'Bytes received by all runs.', 'total(bytes)'],
  ['run_seconds_total', 'Time that all runs took for the list.', 'total(seconds)'],
];

/** The numbers of a mirror that are shown as metrics. */
export type MirrorFigures = ReturnType<typeof readFigures>;

/** The numbers before the first run. */
export const figuresBeforeFirstRun: MirrorFigures = {
  runs: [],
  labels: {},
  lists: resourceNames.map(resource => ({
    resource,
    lastCompletedAt: null,
    completeness: null,
    unknownFields: 0,
    numbers: [],
  })),
};

/**
 * The numbers of a mirror, from its record of runs, so they stay right when a process is started again.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readFigures(path: string) {
  using file = openForReading(path);
  const { sqlite } = file;
  const died = diedRun(sqlite) !== null;
  const runs = sqlite.prepare<[], { status: string; trigger: string; count: number }>(
    'SELECT status, "trigger", count(*) AS count FROM sync_runs GROUP BY 1, 2',
  );
  const labels = sqlite
    .prepare<[], string | null>('SELECT labels FROM sync_runs ORDER BY id DESC LIMIT 1')
    .pluck();
  type ListRow = [string | null, string | null, number, ...(number | null)[]];
  // A run takes 0 seconds if the clock was set back meanwhile.
  const ofList = sqlite
    .prepare<object, ListRow>(
      `WITH l AS (SELECT *, max(0, unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec')) AS seconds
         FROM sync_run_resources WHERE resource = @resource)
       SELECT ${newest('completed_at', completed)}, ${ofLast('completeness')},
         (SELECT count(DISTINCT field) FROM unknown_fields WHERE resource = @resource AND record_count IS NOT 0),
         ${listNumbers.map(([, , sql]) => sql).join(', ')} FROM l`,
    )
    .raw();
  return sqlite.transaction(() => ({
    runs: runs.all().map(run => (died && run.status === 'running' ? { ...run, status: 'died' } : run)),
    lists: resourceNames.map(resource => {
      const [lastCompletedAt, completeness, unknownFields, ...numbers] = ofList.get({ resource }) as ListRow;
      // Each unknown field counts once; the numbers are in the order of `listNumbers`.
      return { resource, lastCompletedAt, completeness, unknownFields, numbers };
    }),
    labels: JSON.parse(labels.get() ?? '{}') as Readonly<Record<string, string>>,
  }))();
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
