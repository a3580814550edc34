import type Database from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import { lastRunBefore, readPruned } from '../receipts/pruned.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { syncReceipts } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';
import type { ChangeCursor, ChangeKey } from './change-cursor.ts';

/** Why a cursor can't be followed in this mirror, and the newest run that is the same for both; 0 if there is none. */
export interface LostCursor {
  /** Goes on after "it" as in "it is of another mirror". */
  readonly why: string;
  readonly sharedRunId: number;
}

/** Earlier runs of a cursor: all of the last 16, then fewer and fewer, so that a cursor stays small. */
const nearRuns = 16;
const farRunsMax = 2 ** 24;
/** How many hexadecimal digits of an earlier receipt's hash are enough to recognize it. */
const hashLength = 16;

/** Makes cursors of a mirror or share, and says if one can be followed in it. */
export class ChangeCursors {
  readonly #sqlite: Database.Database;
  readonly #receiptOfRun: Database.Statement<[runId: number], { leafIndex: number; leafHash: string }>;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    const { leafIndex, leafHash, runId } = syncReceipts;
    this.#receiptOfRun = prepare(sqlite, run =>
      select({ leafIndex, leafHash }).from(syncReceipts).where(eq(runId, run)),
    );
  }

  /**
   * The cursor of a reader that has received everything up to a run, and up to a change of a later one.
   *
   * @throws MirrorFileError if the mirror has lost its id.
   */
  at(runId: number, after: ChangeKey | null = null): ChangeCursor {
    const receipt = this.#receiptOfRun.get(runId);
    return {
      mirrorId: new ReceiptLog(this.#sqlite).mirrorId(),
      runId,
      leafIndex: receipt?.leafIndex ?? null,
      leafHash: receipt?.leafHash ?? null,
      after,
      earlier: [...distances()].flatMap(distance => {
        const hash = this.#receiptOfRun.get(runId - distance)?.leafHash;
        return hash === undefined ? [] : [[runId - distance, hash.slice(0, hashLength)] as const];
      }),
    };
  }

  /** The reason why a cursor can't be followed; null if all changes after it can be read. */
  loss(cursor: ChangeCursor): LostCursor | null {
    const { runId, after } = cursor;
    // Nothing was delivered yet, so nothing can be missing.
    if (runId === 0 && after === null) return null;
    if (cursor.mirrorId !== new ReceiptLog(this.#sqlite).mirrorId())
      return { why: 'is of another mirror', sharedRunId: 0 };
    const sharedRunId = this.#sharedRun(cursor);
    if (sharedRunId !== runId)
      return {
        why: 'is from a later state of this mirror, which was restored from a backup since',
        sharedRunId,
      };
    const rebuiltAfter = lastRunBefore(this.#sqlite, 'rebuild');
    if (rebuiltAfter > 0 && runId <= rebuiltAfter)
      return { why: 'is from before "sync --rebuild", which dropped rows without a trace', sharedRunId };
    if (runId < readPruned(this.#sqlite).throughRunId)
      return {
        why: 'is older than the history that is kept (DOCMIRROR_KEEP_HISTORY)',
        sharedRunId,
      };
    return null;
  }

  #sharedRun({ runId, leafIndex, leafHash, earlier }: ChangeCursor): number {
    const receipt = this.#receiptOfRun.get(runId);
    if (
      receipt === undefined
        ? leafIndex === null
        : receipt.leafIndex === leafIndex && receipt.leafHash === leafHash
    )
      return runId;
    const shared = earlier.find(
      ([id, hash]) => hash !== '' && this.#receiptOfRun.get(id)?.leafHash.startsWith(hash),
    );
    return shared?.[0] ?? 0;
  }
}

function* distances(): Generator<number> {
  for (let distance = 1; distance <= farRunsMax; distance = distance < nearRuns ? distance + 1 : distance * 2)
    yield distance;
}
