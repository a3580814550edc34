import { lists } from '../../contract/lists.ts';
import { stateWords as words } from '../../list-state.ts';
import { integer, newestEndedRun, text } from './view-sql.ts';

// All by hand: the text of a view, which the file keeps.

/** The state of each list: its last completed run, its age, how many records it has, and the verdict of the last run that ended. */
export function syncStatusView(): string {
  const counts = lists
    .map(
      ({ resource, table }) =>
        `SELECT ${text(`'${resource}'`)} AS resource, ${integer(`(SELECT count(*) FROM ${table})`)} AS record_count`,
    )
    .join(' UNION ALL ');
  const newest = (where: string) =>
    `(SELECT max(run_id) FROM sync_run_resources WHERE resource = l.resource AND ${where})`;
  const age = "round((julianday('now') - julianday(done.completed_at)) * 86400)";
  const isRunning = "(SELECT status = 'running' FROM sync_runs ORDER BY id DESC LIMIT 1)";
  return `SELECT
    l.resource,
    ${integer('l.record_count')} AS record_count,
    done.run_id AS last_completed_run_id,
    done.completed_at AS last_completed_at,
    ${integer(age)} AS age_seconds,
    whole.completed_at AS last_full_at,
    last.run_id AS last_run_id,
    last.status AS last_run_status,
    last.completeness,
    ${text(verdict)} AS verdict,
    ${integer(`coalesce(${isRunning}, 0)`)} AS is_running
  FROM (${counts}) l
  LEFT JOIN sync_run_resources last
    ON last.resource = l.resource AND last.run_id = ${newest(`run_id <= ${newestEndedRun}`)}
  LEFT JOIN sync_run_resources done
    ON done.resource = l.resource AND done.run_id = ${newest("status = 'completed'")}
  LEFT JOIN sync_run_resources whole
    ON whole.resource = l.resource AND whole.run_id = ${newest("status = 'completed' AND mode = 'full'")}`;
}

/** The verdict of the last run on a list, in words. */
const verdict = `CASE
  WHEN last.run_id IS NULL THEN '${words['never synced']}'
  WHEN last.status = 'completed' THEN '${words.complete}: ' || last.completeness
  WHEN last.completeness = 'unproven' THEN '${words.unproven}: ' || last.reason
  WHEN last.rejected > 0 THEN '${words.rejected}: ' || last.rejected ||
    iif(last.removals_withheld > 0, ', ${words.withheld}: ' || last.removals_withheld, '')
  WHEN last.removals_withheld > 0 THEN '${words.withheld}: ' || last.removals_withheld
  ELSE last.status || coalesce(': ' || last.error_message, '')
END`;
