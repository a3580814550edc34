import type Database from 'better-sqlite3';
import { isNull } from 'drizzle-orm';
import { type EraseReceipt, receiptOrNull } from '../../audit/receipt.ts';
import { syncReceipts } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';

/** A receipt of an erasure, as it is in the log. */
export interface StoredErasure {
  readonly leafIndex: number;
  readonly receipt: EraseReceipt;
  /** True if the mirror was rebuilt later: erased versions might have been dropped since. */
  readonly isBeforeRebuild: boolean;
}

/** The receipts of erasures, in their order. */
export function readErasures(sqlite: Database.Database): StoredErasure[] {
  const { leafIndex: index, receipt, runId } = syncReceipts;
  const rows = prepare(sqlite, () =>
    select({ leafIndex: index, text: receipt }).from(syncReceipts).where(isNull(runId)).orderBy(index),
  ).all();
  const receipts = rows.map(({ leafIndex, text }) => ({ leafIndex, receipt: receiptOrNull(text) }));
  const rebuiltAt = receipts.findLast(each => each.receipt?.kind === 'rebuild')?.leafIndex ?? -1;
  return receipts.flatMap(({ leafIndex, receipt: erasure }) =>
    erasure?.kind === 'erase'
      ? [{ leafIndex, receipt: erasure, isBeforeRebuild: leafIndex < rebuiltAt }]
      : [],
  );
}

/** Reads the `ended` hashes that changed because versions were erased. The hashes of other lists and runs are in the runs' receipts. */
export class ErasedHashes {
  readonly #hashes = new Map<string, string>();

  constructor(sqlite: Database.Database) {
    for (const { receipt } of readErasures(sqlite))
      for (const { runId, ended } of receipt.ended) this.#hashes.set(`${receipt.resource} ${runId}`, ended);
  }

  /** The hash in 64 hexadecimal digits; undefined if no version that the run ended in the list was erased. */
  of(resource: string, runId: number): string | undefined {
    return this.#hashes.get(`${resource} ${runId}`);
  }
}
