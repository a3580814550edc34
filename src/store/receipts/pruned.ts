import type Database from 'better-sqlite3';
import { EndedRuns } from '../tables/ended-runs.ts';
import { firstValue } from '../tables/query.ts';

/** Up to when ended versions were deleted. */
export interface Pruned {
  /** As the newest receipt of a pruning says; null where nothing was ever deleted. */
  readonly before: string | null;
  /** The last run up to which all had ended by then, and when that was written: what these ended is gone. 0 where nothing is. */
  readonly throughRunId: number;
}

/** The kind of a receipt, in SQL; nothing where another program wrote what is no JSON. */
const kindOfReceipt = "iif(json_valid(receipt), receipt ->> 'kind', '')";

/** Reads how far back the history goes. */
export function readPruned(sqlite: Database.Database): Pruned {
  const newest = sqlite
    .prepare<[], { leafIndex: number; before: string }>(
      `SELECT leaf_index AS leafIndex, receipt ->> 'before' AS before FROM sync_receipts
       WHERE run_id IS NULL AND ${kindOfReceipt} = 'prune' ORDER BY leaf_index DESC LIMIT 1`,
    )
    .get();
  if (newest === undefined) return { before: null, throughRunId: 0 };
  const { before, leafIndex } = newest;
  // Its clock may have been ahead: runs that had not ended when it was written count for none, whatever their times say.
  const lastWithReceipt = lastReceiptedBy(sqlite, leafIndex) ?? Number.POSITIVE_INFINITY;
  return { before, throughRunId: Math.min(new EndedRuns(sqlite).lastOfAllBy(before), lastWithReceipt) };
}

/** The last run before those whose receipts come after a place in the log; null where none comes yet: the run that pruned goes on. */
function lastReceiptedBy(sqlite: Database.Database, leafIndex: number): number | null {
  const next = 'SELECT min(run_id) - 1 FROM sync_receipts WHERE leaf_index > ?';
  return firstValue<number | null>(sqlite, next, leafIndex) ?? null;
}

/**
 * The last run of whose changes no receipt can be held against the rows, so that a sum keeps what is left of them: their ended
 * versions were deleted, or contents were computed again by an upgrade. 0 if there is none.
 */
export function readSummedThrough(sqlite: Database.Database): number {
  return Math.max(readPruned(sqlite).throughRunId, readUpgradedThrough(sqlite));
}

/** The last run before the newest upgrade: the contents that it wrote may be other ones since. 0 if the mirror was not upgraded. */
export function readUpgradedThrough(sqlite: Database.Database): number {
  const upgrade = `SELECT max(leaf_index) FROM sync_receipts WHERE run_id IS NULL AND ${kindOfReceipt} = 'upgrade'`;
  const last = `SELECT max(run_id) FROM sync_receipts WHERE leaf_index < (${upgrade})`;
  return firstValue<number | null>(sqlite, last) ?? 0;
}
