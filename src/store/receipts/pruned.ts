import type Database from 'better-sqlite3';
import { EndedRuns } from '../tables/ended-runs.ts';

/** Up to when ended versions were deleted. */
export interface Pruned {
  /** As the newest receipt of a pruning says; null where nothing was ever deleted. */
  readonly before: string | null;
  /** The last run up to which all had ended by then: what it and the runs before it ended is gone. 0 where nothing is. */
  readonly throughRunId: number;
}

/** Reads how far back the history goes. */
export function readPruned(sqlite: Database.Database): Pruned {
  const receipt = sqlite
    .prepare<[], { before: string; nextRunId: number | null }>(
      `SELECT receipt ->> 'before' AS before,
         (SELECT min(next.run_id) FROM sync_receipts next WHERE next.leaf_index > sync_receipts.leaf_index) AS nextRunId
       FROM sync_receipts
       WHERE run_id IS NULL AND iif(json_valid(receipt), receipt ->> 'kind', '') = 'prune'
       ORDER BY leaf_index DESC LIMIT 1`,
    )
    .get();
  if (receipt === undefined) return { before: null, throughRunId: 0 };
  const { before, nextRunId } = receipt;
  // What ended later had not ended then, whatever its clock said.
  return { before, throughRunId: new EndedRuns(sqlite).lastOfAllBy(before, nextRunId) };
}
