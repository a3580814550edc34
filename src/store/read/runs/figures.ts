import { type ResourceName, resourceNames } from '../../../contract/lists.ts';
import { openForReading } from '../../file/open.ts';
import { judge, newestComplete, statesOfCodes } from '../../tables/accepted.ts';
import { allRows, firstRow, firstValue } from '../../tables/ask.ts';
import { isCompleteSql } from '../../tables/ended-runs.ts';
import { reasonsIn } from '../../tables/reasons.ts';
import { askedLists } from './freshness.ts';
import { diedRun, labelsIn } from './runs.ts';

const newest = (value: string, condition: string) =>
  `(SELECT ${value} FROM l WHERE ${condition} ORDER BY run_id DESC LIMIT 1)`;
const ofLast = (value: string) => newest(value, "status NOT IN ('running', 'interrupted')");

const last = (value: string, help: string) => ({ help, sql: ofLast(value), before: 0 });
const total = (column: string, help: string) => ({ help, sql: `total(${column})`, before: 0 });
const known = (sql: string, help: string) => ({ help, sql, before: null });

/**
 * The numbers of a list, each by the name of its metric after `docmirror_list_`: what the metric says, the SQL over the runs `l` of the
 * list, and the value before the first run. A text in `help` is for ever: node_exporter drops the samples of a file that has another.
 */
export const listNumbers = {
  last_completed_timestamp_seconds: known(
    newest("unixepoch(coalesce(read_since, completed_at), 'subsec')", 'run_id = @complete'),
    "Since when the list's last completed run is true, in seconds since 1970.",
  ),
  records: known(newest('record_count', 'record_count IS NOT NULL'), 'Records of the list in the mirror.'),
  last_run_duration_seconds: known(ofLast('coalesce(seconds, 0)'), "How long the list's last run took."),
  last_run_pages_per_second: known(
    ofLast('coalesce(page_count, 0) * max(walks, 1) / nullif(seconds, 0)'),
    "Pages that the list's last run read, a second.",
  ),
  last_run_rejected: last('rejected', "Records that the list's last run could not read."),
  last_run_removals_withheld: last('removals_withheld', "Removals that the list's last run withheld."),
  last_run_undecided: last('undecided', "Known records whose presence the list's last run could not decide."),
  inserted_total: total('inserted', 'Records inserted by all runs.'),
  updated_total: total('updated', 'Records updated by all runs.'),
  removed_total: total('removed', 'Records removed by all runs.'),
  rejected_total: total('rejected', 'Records that could not be read, by all runs.'),
  requests_total: total('requests', 'Requests sent by all runs, retries included.'),
  retries_total: total('retries', 'Requests that were sent again, by all runs.'),
  received_bytes_total: total('bytes', 'Bytes received by all runs.'),
  run_seconds_total: total('seconds', 'Time that all runs took for the list.'),
};

const none = { completeness: null, findings: [], unknownFields: 0, numbers: {} };

/** The numbers before the first run. */
export const figuresBeforeFirstRun: ReturnType<typeof readFigures> = {
  runs: [],
  labels: {},
  lists: resourceNames.map(resource => ({ resource, ...none })),
};

type LastRun = { readonly runId: number; readonly reasons: string | null };

/** The numbers of a mirror, from its record of runs. Throws a MirrorFileError if there is no mirror, or it can't be read. */
export function readFigures(path: string) {
  using file = openForReading(path);
  const { sqlite } = file;
  const died = diedRun(sqlite) !== null;
  const ended = `SELECT iif(error_code = 'deadline', 'deadline', status) AS status, "trigger", count(*) AS count
    FROM sync_runs GROUP BY 1, 2`;
  type Runs = { status: string; trigger: string; count: number };
  // A run takes 0 seconds if the clock was set back meanwhile.
  const runsOfList = `WITH l AS (
    SELECT *, max(0, unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec')) AS seconds
    FROM sync_run_resources WHERE resource = @resource)`;
  const named = Object.entries(listNumbers).map(([name, { sql }]) => `${sql} AS ${name}`);
  const all = `${runsOfList} SELECT ${named.join(', ')} FROM l`;
  const completeness = `${runsOfList} SELECT ${ofLast('completeness')}`;
  const last = `${runsOfList} SELECT run_id AS runId, reasons FROM l WHERE run_id = ${ofLast('run_id')}`;
  const unknownFields =
    'SELECT count(DISTINCT field) FROM unknown_fields WHERE resource = ? AND record_count IS NOT 0';
  return sqlite.transaction(() => ({
    /** A run that `DOCMIRROR_DEADLINE` ended has the status `deadline` here: nobody wanted that. */
    runs: allRows<Runs>(sqlite, ended).map(run =>
      died && run.status === 'running' ? { ...run, status: 'died' } : run,
    ),
    lists: askedLists(sqlite).map(resource => ({
      resource,
      /** How sure its last run was; null if there is none, or it wrote nothing. */
      completeness: firstValue<string>(sqlite, completeness, { resource }),
      findings: findingsOf(resource, firstRow<LastRun>(sqlite, last, { resource })),
      unknownFields: firstValue<number>(sqlite, unknownFields, resource) ?? 0,
      /** Null, or missing before the first run, for what is not known yet. */
      numbers:
        firstRow<Record<string, number | null>>(sqlite, all, {
          resource,
          complete: newestComplete(sqlite, resource, isCompleteSql, Date.now()),
        }) ?? {},
    })),
    labels: labelsIn(firstValue(sqlite, 'SELECT labels FROM sync_runs ORDER BY id DESC LIMIT 1')),
  }))();

  /** The codes of what its last run found out, and whether all that each says is accepted; none if nothing is known. */
  function findingsOf(resource: ResourceName, run: LastRun | undefined) {
    const reasons = reasonsIn(run?.reasons ?? null) ?? [];
    const { open } = judge(sqlite, { resource, runId: run?.runId ?? 0, reasons }, Date.now());
    return statesOfCodes(reasons, open ?? []);
  }
}
