import type Database from 'better-sqlite3';
import { desc, gt, isNull, lt, max, min, sql } from 'drizzle-orm';
import { type KeptSum, type Receipt, receiptOrNull } from '../../audit/receipt.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { firstValue } from '../tables/query.ts';
import { syncReceipts } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';

const { leafIndex, runId } = syncReceipts;

/** The time up to which ended versions were deleted. */
export interface Pruned {
  /** As in the newest receipt of a pruning; null if nothing was ever deleted. */
  readonly before: string | null;
  /** The last run for which it and all earlier runs had ended by then. The versions that these ended are gone. 0 if there is none. */
  readonly throughRunId: number;
}

/** The receipts' summary of the runs for which no changes hash can be computed any more. */
export interface Kept {
  /** The last of these runs: its ended versions were deleted, or an upgrade or a rebuild came after it. 0 if there is none. */
  readonly throughRunId: number;
  /** The last of them whose ended versions were deleted; 0 if none were. */
  readonly deletedThroughRunId: number;
  /** The last of them before an upgrade or a rebuild: the sums also say how versions ended up to it. 0 if there was none. */
  readonly settledRunId: number;
  /** Which of these runs wrote the versions that are left. */
  readonly sums: readonly KeptSum[];
}

/** Reads how far back the history goes. */
export function readPruned(sqlite: Database.Database): Pruned {
  const newest = newestOfKind(sqlite, 'prune');
  if (newest === null) return { before: null, throughRunId: 0 };
  const { before } = newest.receipt;
  // The clock of the pruning might have been ahead. Runs that ended after its receipt do not count, whatever their times are.
  const lastWithReceipt = lastReceiptedBy(sqlite, newest.leafIndex) ?? Number.POSITIVE_INFINITY;
  const throughRunId = Math.min(new EndedRuns(sqlite).lastOfAllBy(before), lastWithReceipt);
  return { before, throughRunId };
}

/** Reads what the newest pruning, upgrade or rebuild left. */
export function readKept(sqlite: Database.Database): Kept {
  const sums = newestOfKind(sqlite, 'prune', 'upgrade', 'rebuild')?.receipt.kept ?? [];
  const deletedThroughRunId = readPruned(sqlite).throughRunId;
  const settledRunId = Math.max(lastRunBefore(sqlite, 'upgrade'), lastRunBefore(sqlite, 'rebuild'));
  return {
    throughRunId: Math.max(deletedThroughRunId, settledRunId),
    deletedThroughRunId,
    settledRunId,
    sums,
  };
}

/**
 * The last run before the newest rebuild or upgrade; 0 if there is none. The state of the mirror before a rebuild can't be read any
 * more. Receipts before an upgrade cover contents of another shape.
 */
export function lastRunBefore(sqlite: Database.Database, kind: 'rebuild' | 'upgrade'): number {
  const newest = newestOfKind(sqlite, kind);
  if (newest === null) return 0;
  const before = (at: number) =>
    select({ runId: max(runId) })
      .from(syncReceipts)
      .where(lt(leafIndex, at));
  return firstValue(sqlite, before, newest.leafIndex) ?? 0;
}

/** The newest receipt of some kinds that no run writes; null if there is none. */
function newestOfKind<Kind extends Receipt['kind']>(
  sqlite: Database.Database,
  ...kinds: readonly Kind[]
): { readonly leafIndex: number; readonly receipt: Extract<Receipt, { kind: Kind }> } | null {
  const receipts = prepare(sqlite, () =>
    select({ at: leafIndex, text: syncReceipts.receipt })
      .from(syncReceipts)
      .where(isNull(runId))
      .orderBy(desc(leafIndex)),
  );
  for (const { at, text } of receipts.iterate()) {
    const receipt = receiptOrNull(text);
    if (receipt !== null && (kinds as readonly string[]).includes(receipt.kind))
      return { leafIndex: at, receipt: receipt as Extract<Receipt, { kind: Kind }> };
  }
  return null;
}

/** The last run before those whose receipts come after a place in the log; null if no receipt of a run comes after it. */
function lastReceiptedBy(sqlite: Database.Database, at: number): number | null {
  const next = (after: number) =>
    select({ runId: sql<number | null>`${min(runId)} - 1` })
      .from(syncReceipts)
      .where(gt(leafIndex, after));
  return firstValue(sqlite, next, at) ?? null;
}
