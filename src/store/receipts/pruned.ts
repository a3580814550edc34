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
  const before = sqlite
    .prepare<[], string>(
      `SELECT receipt ->> 'before' FROM sync_receipts
       WHERE run_id IS NULL AND iif(json_valid(receipt), receipt ->> 'kind', '') = 'prune'
       ORDER BY leaf_index DESC LIMIT 1`,
    )
    .pluck()
    .get();
  if (before === undefined) return { before: null, throughRunId: 0 };
  // The run that pruned ended after that, so none that came later counts, whatever its clock said.
  return { before, throughRunId: new EndedRuns(sqlite).lastOfAllBy(before) };
}
