import { type ResourceName, resourceNames } from '../../../contract/lists.ts';
import { openForReading } from '../../file/open.ts';
import { askedLists } from './freshness.ts';
import { diedRun, labelsIn } from './runs.ts';

const newest = (value: string, condition: string) =>
  `(SELECT ${value} FROM l WHERE ${condition} ORDER BY run_id DESC LIMIT 1)`;
/** Of the last run that has ended. */
const ofLast = (value: string) => newest(value, "status NOT IN ('running', 'interrupted')");

/** The numbers of a list, each by its SQL: of its last run, or the total of all its runs. */
const numbers = {
  /** In seconds since 1970. */
  completedSinceS: newest("unixepoch(coalesce(read_since, completed_at), 'subsec')", "status = 'completed'"),
  records: newest('record_count', 'record_count IS NOT NULL'),
  lastSeconds: ofLast('coalesce(seconds, 0)'),
  lastPagesPerSecond: ofLast('coalesce(page_count, 0) * max(walks, 1) / nullif(seconds, 0)'),
  lastRejected: ofLast('rejected'),
  lastRemovalsWithheld: ofLast('removals_withheld'),
  lastUndecided: ofLast('undecided'),
  inserted: 'total(inserted)',
  updated: 'total(updated)',
  removed: 'total(removed)',
  rejected: 'total(rejected)',
  requests: 'total(requests)',
  retries: 'total(retries)',
  bytes: 'total(bytes)',
  seconds: 'total(seconds)',
};

/** The numbers of a list by name; null for what is not known yet. */
export type ListNumbers = { readonly [Name in keyof typeof numbers]: number | null };

/** What is counted of a list. */
export interface ListFigures extends Partial<ListNumbers> {
  readonly resource: ResourceName;
  /** How sure its last run was; null if there is none, or it wrote nothing. */
  readonly completeness: string | null;
  /** Fields that the service sends and that have no column, each once. */
  readonly unknownFields: number;
}

/** The numbers of a mirror. */
export interface MirrorFigures {
  /** A run that `DOCMIRROR_DEADLINE` ended has the status `deadline` here: nobody wanted that. */
  readonly runs: readonly { readonly status: string; readonly trigger: string; readonly count: number }[];
  /** Those that runs asked for. */
  readonly lists: readonly ListFigures[];
  /** Those of the newest run. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The numbers before the first run. */
export const figuresBeforeFirstRun: MirrorFigures = {
  runs: [],
  labels: {},
  lists: resourceNames.map(resource => ({ resource, completeness: null, unknownFields: 0 })),
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
    `SELECT iif(error_code = 'deadline', 'deadline', status) AS status, "trigger", count(*) AS count
     FROM sync_runs GROUP BY 1, 2`,
  );
  const labels = sqlite
    .prepare<[], string | null>('SELECT labels FROM sync_runs ORDER BY id DESC LIMIT 1')
    .pluck();
  const named = Object.entries(numbers).map(([name, sql]) => `${sql} AS ${name}`);
  // A run takes 0 seconds if the clock was set back meanwhile.
  const ofList = sqlite.prepare<{ resource: string }, Omit<ListFigures, 'resource'>>(
    `WITH l AS (SELECT *, max(0, unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec')) AS seconds
       FROM sync_run_resources WHERE resource = @resource)
     SELECT ${ofLast('completeness')} AS completeness, ${named.join(', ')},
       (SELECT count(DISTINCT field) FROM unknown_fields WHERE resource = @resource AND record_count IS NOT 0) AS unknownFields
     FROM l`,
  );
  const none = { completeness: null, unknownFields: 0 };
  return sqlite.transaction(() => ({
    runs: runs.all().map(run => (died && run.status === 'running' ? { ...run, status: 'died' } : run)),
    lists: askedLists(sqlite).map(resource => ({ resource, ...none, ...ofList.get({ resource }) })),
    labels: labelsIn(labels.get()),
  }))();
}
