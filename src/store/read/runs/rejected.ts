import { openForReading } from '../../file/open.ts';
import { wroteListSql } from '../../tables/ended-runs.ts';
import type { rejectedRecords } from '../../tables/schema.ts';

type RejectedRow = Omit<typeof rejectedRecords.$inferSelect, 'content'>;
type CountRow = Readonly<
  Record<'resource' | 'reason', string> & Record<'count' | 'firstRunId' | 'lastRunId', number>
>;

/** Why records of a list were rejected, and how many; `isCurrent` is true if the newest run that wrote the list did it, too. */
export type RejectionCount = CountRow & { readonly isCurrent: boolean };

/**
 * How many records were rejected for each reason, those that still apply first; and the records that were rejected last, at most
 * `limit`. A text is null if it was erased, and in a share.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readRejected(path: string, limit: number) {
  using mirror = openForReading(path);
  const { sqlite } = mirror;
  sqlite.exec('BEGIN');
  const counts = sqlite.prepare<[], CountRow & { readonly isCurrent: number | null }>(
    `SELECT resource, reason, count(*) AS count, min(run_id) AS firstRunId, max(last_run_id) AS lastRunId,
       last_run_id = (SELECT max(l.run_id) FROM sync_run_resources l WHERE l.resource = r.resource AND l.${wroteListSql}) AS isCurrent
     FROM rejected_records r GROUP BY resource, reason, isCurrent
     ORDER BY isCurrent DESC, lastRunId DESC, count(*) DESC`,
  );
  const records = sqlite.prepare<[number], RejectedRow>(
    `SELECT id, resource, run_id AS runId, last_run_id AS lastRunId, page_no AS pageNo, position, reason, record
     FROM rejected_records ORDER BY last_run_id DESC, id LIMIT ?`,
  );
  return {
    counts: counts.all().map((row): RejectionCount => ({ ...row, isCurrent: row.isCurrent === 1 })),
    records: records.all(limit),
  };
}
