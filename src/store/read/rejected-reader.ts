import { openForReading } from '../file/open.ts';
import type { rejectedRecords } from '../tables/schema.ts';
import { wroteListSql } from '../tables/written-lists.ts';

/** The reason why records of a list were rejected, and how many were. */
export interface RejectionCount {
  readonly resource: string;
  readonly reason: string;
  readonly count: number;
  /** The first run that rejected one of them. */
  readonly firstRunId: number;
  readonly lastRunId: number;
  /** True if the newest run that wrote the list still rejected them. False if the service no longer sends them, or has corrected them. */
  readonly isCurrent: boolean;
}

/** A rejected record as it is stored. Its text is null if it was erased, and in a share. */
export type RejectedRecord = Omit<typeof rejectedRecords.$inferSelect, 'content'>;

/**
 * How many records were rejected for each reason, those that still apply first; and the records that were rejected last, at most
 * `limit`.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readRejected(
  path: string,
  limit: number,
): { readonly counts: readonly RejectionCount[]; readonly records: readonly RejectedRecord[] } {
  using mirror = openForReading(path);
  const { sqlite } = mirror;
  sqlite.exec('BEGIN');
  type CountRow = Omit<RejectionCount, 'isCurrent'> & { readonly isCurrent: number | null };
  const counts = sqlite.prepare<[], CountRow>(
    `SELECT resource, reason, count(*) AS count, min(run_id) AS firstRunId, max(last_run_id) AS lastRunId,
       last_run_id = (SELECT max(l.run_id) FROM sync_run_resources l WHERE l.resource = r.resource AND l.${wroteListSql}) AS isCurrent
     FROM rejected_records r GROUP BY resource, reason, isCurrent
     ORDER BY isCurrent DESC, lastRunId DESC, count(*) DESC`,
  );
  const records = sqlite.prepare<[number], RejectedRecord>(
    `SELECT id, resource, run_id AS runId, last_run_id AS lastRunId, page_no AS pageNo, position, reason, record
     FROM rejected_records ORDER BY last_run_id DESC, id LIMIT ?`,
  );
  return {
    counts: counts.all().map(row => ({ ...row, isCurrent: row.isCurrent === 1 })),
    records: records.all(limit),
  };
}
