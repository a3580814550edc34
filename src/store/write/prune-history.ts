import { keptResources } from '../../contract/lists.ts';
import { hash16 } from '../../contract/sum.ts';
import { isAsReceipted, sumOfBegun, sumOfEnded } from '../receipts/kept-provenance.ts';
import { readPruned, readSummedThrough } from '../receipts/pruned.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { ContentSum } from '../tables/content-sums.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import type { OpenTransaction, TransactionOwner } from './transaction.ts';

/** Versions deleted in one transaction. */
const versionsPerStep = 5_000;
/** Pages of the file given back to the disk in one step. */
const pagesPerStep = 2_000;

/** What is to be deleted, and under whose watch. */
export interface PruneOptions {
  /** Versions that had ended by then go; UTC in ISO 8601 with milliseconds. */
  readonly before: string;
  /** The time of now, for the receipt. */
  readonly at: string;
  readonly signal: AbortSignal;
}

/**
 * Deletes the versions of records that had ended by a time, step by step, and gives the pages that this frees back to the disk.
 * The receipt that says so comes with the first step: what is cut off after it is completed by the next run.
 *
 * @returns how many versions were deleted.
 */
export async function pruneHistory(transactions: TransactionOwner, options: PruneOptions): Promise<number> {
  const { signal } = options;
  const through = await transactions.write(signal, transaction => beginPruning(transaction, options));
  let deleted = 0;
  for (let step = 1; through > 0 && step > 0; deleted += step) {
    signal.throwIfAborted();
    step = await transactions.write(signal, transaction => deleteSome(transaction, through));
  }
  // A file that was made without room for this keeps its free pages, and fills them again.
  for (let freed = deleted > 0; freed; ) {
    signal.throwIfAborted();
    freed = await transactions.write(signal, freeSome);
  }
  return deleted;
}

/** Writes the receipt, where there is anything to delete, and returns the last run whose ended versions go. */
function beginPruning({ sqlite }: OpenTransaction, { before, at }: PruneOptions): number {
  const pruned = readPruned(sqlite);
  const through = new EndedRuns(sqlite).lastOfAllBy(before);
  const isAnything = sqlite.prepare('SELECT 1 FROM record_history WHERE valid_to_run_id <= ? LIMIT 1');
  if (through <= pruned.throughRunId || isAnything.get(through) === undefined) return pruned.throughRunId;
  const summed = readSummedThrough(sqlite);
  for (const resource of keptResources) moveProvenance(sqlite, resource, summed, through);
  const log = new ReceiptLog(sqlite);
  log.append({ kind: 'prune', mirrorId: log.mirrorId(), at, before });
  return through;
}

/** Takes the runs after one and up to another, if there are any, into the sum that stands for their changes. */
function moveProvenance(
  sqlite: OpenTransaction['sqlite'],
  resource: string,
  from: number,
  through: number,
): void {
  const sum = new ContentSum(sqlite, 'before_pruning', resource);
  const kept = sum
    .stored()
    .minus(sumOfEnded(sqlite, resource, from, through))
    .plus(sumOfBegun(sqlite, resource, { beganAfter: from, beganThrough: through, stoodAfter: through }));
  // What was altered meanwhile is not to be taken for what docmirror wrote: no rows come to such a sum, so an audit goes on finding it.
  if (!isAsReceipted(sqlite, resource, from, through)) kept.add(hash16('altered before it was pruned'));
  sum.replace(kept);
}

/** Deletes some of the versions that go, the oldest first, and returns how many. */
function deleteSome({ sqlite }: OpenTransaction, through: number): number {
  const versions = sqlite
    .prepare<[number, number], { id: number; resource: string; fingerprint: Buffer | null }>(
      `SELECT id, resource, _fingerprint AS fingerprint FROM record_history
       WHERE valid_to_run_id <= ? ORDER BY valid_to_run_id, id LIMIT ?`,
    )
    .all(through, versionsPerStep);
  const sums = new Map<string, ContentSum>(
    keptResources.map(resource => [resource, new ContentSum(sqlite, 'record_history', resource)]),
  );
  const remove = sqlite.prepare('DELETE FROM record_history WHERE id = ?');
  for (const { id, resource, fingerprint } of versions) {
    if (fingerprint !== null) sums.get(resource)?.subtract(fingerprint);
    remove.run(id);
  }
  for (const sum of sums.values()) sum.save();
  return versions.length;
}

/** Gives some free pages back; false where there is none left, or the file can't. */
function freeSome({ sqlite }: OpenTransaction): boolean {
  const before = Number(sqlite.pragma('freelist_count', { simple: true }));
  sqlite.pragma(`incremental_vacuum(${pagesPerStep})`);
  const after = Number(sqlite.pragma('freelist_count', { simple: true }));
  return after < before && after > 0;
}
