import { inArray, lte } from 'drizzle-orm';
import { MirrorAlteredError } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { areAsReceipted, keptAfterPruning } from '../receipts/kept-sums.ts';
import { readKept, readPruned } from '../receipts/pruned.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { firstValue } from '../tables/query.ts';
import { recordHistory } from '../tables/schema.ts';
import { prepare, select, words } from '../tables/statement.ts';
import type { OpenTransaction, TransactionOwner } from './transaction.ts';

/** Versions deleted in one step, after which signals are handled. */
const versionsPerStep = 5_000;
/** Pages of the file given back to the disk in one step. */
const pagesPerStep = 2_000;

/** The versions to delete, and the signal that stops the work. */
export interface PruneOptions {
  /** The time by which the versions to delete had ended; UTC in ISO 8601 with milliseconds. */
  readonly before: string;
  /** The current time, for the receipt. */
  readonly at: string;
  readonly signal: AbortSignal;
}

/**
 * Deletes the versions of records that had ended by a time, all together with their receipt or none. It then gives the free pages
 * back to the disk, step by step.
 *
 * @returns how many versions were deleted.
 */
export async function pruneHistory(transactions: TransactionOwner, options: PruneOptions): Promise<number> {
  const { signal } = options;
  const slice = new TimeSlice(signal);
  const deleted = await transactions.write(signal, async transaction => {
    const through = beginPruning(transaction, options);
    let count = 0;
    for (let step = through; step > 0; count += step) {
      await slice.next();
      step = deleteSome(transaction, through);
    }
    return count;
  });
  // A file that was made without `auto_vacuum` keeps its free pages, and uses them again.
  for (let freed = deleted > 0; freed; ) {
    signal.throwIfAborted();
    freed = await transactions.write(signal, freeSome);
  }
  return deleted;
}

/**
 * Writes the receipt if there is anything to delete. Returns the last run whose ended versions are deleted; 0 if there is none.
 *
 * @throws MirrorAlteredError if the versions are not what their receipts say: evidence is not deleted.
 */
function beginPruning({ sqlite }: OpenTransaction, { before: endedBefore, at }: PruneOptions): number {
  const pruned = readPruned(sqlite);
  const through = new EndedRuns(sqlite).lastOfAllBy(endedBefore);
  const ended = (runId: number) =>
    select({ id: recordHistory.id })
      .from(recordHistory)
      .where(lte(recordHistory.validToRunId, runId))
      .limit(1);
  if (through <= pruned.throughRunId || firstValue(sqlite, ended, through) === undefined) return 0;
  const before = readKept(sqlite);
  const from = before.throughRunId;
  if (!areAsReceipted(sqlite, from, through))
    throw new MirrorAlteredError(
      `What the runs ${from + 1} to ${through} changed is not what their receipts say`,
      'The lists were synced, but no older version was deleted',
    );
  const log = new ReceiptLog(sqlite);
  const kept = keptAfterPruning(sqlite, before, through);
  log.append({ kind: 'prune', mirrorId: log.mirrorId(), at, before: endedBefore, kept });
  return through;
}

/** Deletes some of the versions, the oldest first, and returns how many. */
function deleteSome({ sqlite }: OpenTransaction, through: number): number {
  const { id, validToRunId } = recordHistory;
  const remove = prepare(sqlite, (runId: number, most: number) =>
    words
      .delete(recordHistory)
      .where(
        inArray(
          id,
          words
            .select({ id })
            .from(recordHistory)
            .where(lte(validToRunId, runId))
            .orderBy(validToRunId, id)
            .limit(most),
        ),
      ),
  );
  return remove.run(through, versionsPerStep).changes;
}

/** Gives some free pages back; false if there are none left, or the file does not support it. */
function freeSome({ sqlite }: OpenTransaction): boolean {
  const before = Number(sqlite.pragma('freelist_count', { simple: true }));
  sqlite.pragma(`incremental_vacuum(${pagesPerStep})`);
  const after = Number(sqlite.pragma('freelist_count', { simple: true }));
  return after < before && after > 0;
}
