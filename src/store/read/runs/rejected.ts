import { resourceNames } from '../../../contract/lists.ts';
import { object, oneOf, orNull, text, type ValueOf, whole, yesOrNo } from '../../../contract/shapes.ts';
import { acceptancesIn } from '../../tables/accepted.ts';
import { allRows } from '../../tables/ask.ts';
import { wroteListSql } from '../../tables/ended-runs.ts';
import { readMirror } from '../sqlite.ts';

// The mirror's own tables have names of lists as texts.
const resource = oneOf<string>(resourceNames);

/** Why records of a list were rejected, and how many. */
export const rejectionCount = object({
  resource,
  reason: text(),
  count: whole(),
  firstRunId: whole(),
  lastRunId: whole(),
  isCurrent: yesOrNo('the newest run of the list rejected them, too'),
});

/** One record that was rejected. */
export const rejectedRecord = object({
  id: whole('its number in `rejected_records`'),
  resource,
  runId: whole('the first that received it'),
  lastRunId: whole('the last that did, with the same text'),
  pageNo: whole(),
  position: whole('its place on the page, from 0'),
  reason: text(),
  record: orNull(text('its JSON; null if it was erased, and in a share')),
});

/** What people have accepted, the oldest first. Throws a MirrorFileError if there is no mirror, or it can't be read. */
export const readAccepted = (path: string) => readMirror(path, acceptancesIn);

/** How many records were rejected for each reason, those that still apply first, and at most `limit` that were rejected last. */
export function readRejected(path: string, limit: number) {
  return readMirror(path, sqlite => {
    const byReason = `SELECT resource, reason, count(*) AS count, min(run_id) AS firstRunId, max(last_run_id) AS lastRunId,
        last_run_id = (SELECT max(l.run_id) FROM sync_run_resources l WHERE l.resource = r.resource AND l.${wroteListSql}) AS isCurrent
      FROM rejected_records r GROUP BY resource, reason, isCurrent
      ORDER BY isCurrent DESC, lastRunId DESC, count(*) DESC`;
    type Counted = Omit<ValueOf<typeof rejectionCount>, 'isCurrent'> & { readonly isCurrent: number | null };
    const newest = `SELECT id, resource, run_id AS runId, last_run_id AS lastRunId, page_no AS pageNo, position, reason, record
      FROM rejected_records ORDER BY last_run_id DESC, id LIMIT ?`;
    return {
      counts: allRows<Counted>(sqlite, byReason).map(row => ({ ...row, isCurrent: row.isCurrent === 1 })),
      records: allRows<ValueOf<typeof rejectedRecord>>(sqlite, newest, limit),
    };
  });
}
