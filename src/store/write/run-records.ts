import type Database from 'better-sqlite3';
import { and, desc, eq, ne, notExists, type SQL } from 'drizzle-orm';
import type { ResourceName } from '../../contract/lists.ts';
import type { ListOutcome, ReceiptHead, RunError, RunStart, RunStatus } from '../../contract/run.ts';
import type { MirrorFile } from '../file/open.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState, writeRunReceipt } from '../receipts/run-receipt.ts';
import { syncReceipts, syncRunResources, syncRuns } from '../tables/schema.ts';
import { wroteList } from '../tables/written-lists.ts';
import type { OpenTransaction } from './transaction.ts';

const interrupted = { status: 'interrupted' } as const;

/** The facts about a run that wrote a list, for the next run. */
export interface WrittenList {
  readonly runId: number;
  readonly completeness: string | null;
  readonly removalsWithheld: number;
  readonly checksum: string | null;
  readonly recordCount: number | null;
  readonly totalRecordCount: number | null;
  readonly updated: number;
  readonly removed: number;
  readonly baseUrl: string;
}

/** The record of runs: when each one ran, and how each of its lists ended. */
export class RunRecords {
  readonly #orm: MirrorFile['orm'];
  readonly #sqlite: Database.Database;

  constructor(file: MirrorFile) {
    this.#orm = file.orm;
    this.#sqlite = file.sqlite;
  }

  /**
   * Records that runs which are still `running` died with their process, because this process has the lock; each gets its receipt.
   */
  interruptDead(transaction: OpenTransaction): void {
    for (const runId of this.#allRunning()) {
      this.#rewriteRun(runId, interrupted);
      this.#cutOffLists(runId);
      writeRunReceipt(transaction.sqlite, runId);
    }
  }

  /** Records a new run, and returns its id. */
  begin(_transaction: OpenTransaction, start: RunStart): number {
    return this.#orm
      .insert(syncRuns)
      .values({ status: 'running', ...rowOf(start) })
      .returning({ id: syncRuns.id })
      .get().id;
  }

  /** Ends the lists of an interrupted run. */
  #cutOffLists(runId: number): void {
    const underWay = and(eq(syncRunResources.runId, runId), eq(syncRunResources.status, 'running'));
    const rows = this.#orm
      .select({ resource: syncRunResources.resource })
      .from(syncRunResources)
      .where(underWay)
      .all();
    for (const { resource } of rows) {
      this.#orm
        .update(syncRunResources)
        .set({ ...interrupted, ...this.#stateOf(resource as ResourceName) })
        .where(and(underWay, eq(syncRunResources.resource, resource)))
        .run();
    }
  }

  #allRunning(): number[] {
    // A receipt is permanent: a run that has one has ended, whatever its row says.
    const receipts = this.#orm.select({ runId: syncReceipts.runId }).from(syncReceipts);
    return this.#orm
      .select({ id: syncRuns.id })
      .from(syncRuns)
      .where(
        and(eq(syncRuns.status, 'running'), notExists(receipts.where(eq(syncReceipts.runId, syncRuns.id)))),
      )
      .orderBy(syncRuns.id)
      .all()
      .map(({ id }) => id);
  }

  /** Records how a run ended, and writes its receipt. */
  end(
    { sqlite }: OpenTransaction,
    runId: number,
    status: RunStatus,
    completedAt: string,
    error: RunError | null,
  ): ReceiptHead | null {
    const ended = { errorCode: error?.code ?? null, errorMessage: error?.message ?? null };
    this.#rewriteRun(runId, { status, completedAt, ...ended });
    this.#cutOffLists(runId);
    writeRunReceipt(sqlite, runId);
    return new ReceiptLog(sqlite).head();
  }

  #rewriteRun(runId: number, values: Partial<typeof syncRuns.$inferInsert>): void {
    this.#orm.update(syncRuns).set(values).where(eq(syncRuns.id, runId)).run();
  }

  beginList(_transaction: OpenTransaction, runId: number, resource: string, startedAt: string): void {
    this.#orm.insert(syncRunResources).values({ runId, resource, status: 'running', startedAt }).run();
  }

  /** Records how a list ended that was not written, with its unchanged state. Returns the outcome with the checksum. */
  endUnwritten(transaction: OpenTransaction, runId: number, outcome: ListOutcome): ListOutcome {
    const { recordCount, checksum } = this.#stateOf(outcome.resource);
    const recorded = { ...outcome, checksum };
    this.endList(transaction, runId, recorded, recordCount);
    return recorded;
  }

  /** The state of a list that a run leaves unchanged; the run's receipt states it, too. */
  #stateOf(resource: ResourceName): { recordCount: number; checksum: string } {
    const state = lastState(this.#sqlite, resource);
    return { recordCount: state.count, checksum: state.toString() };
  }

  /** Records how a list ended, and how many records it has. */
  endList(_transaction: OpenTransaction, runId: number, outcome: ListOutcome, recordCount: number): void {
    const { error, newFields: _new, emptiedColumns: _emptied, changedIdentity: _changed, ...rest } = outcome;
    const row = {
      runId,
      ...rest,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
      recordCount,
    };
    this.#orm
      .insert(syncRunResources)
      .values(row)
      .onConflictDoUpdate({ target: [syncRunResources.runId, syncRunResources.resource], set: row })
      .run();
  }

  /** The last run that wrote this list; undefined if there is none. */
  lastWritten(resource: string): WrittenList | undefined {
    return this.#written(resource, undefined, 1)[0];
  }

  /** The last run after which this list was proven or incremental; undefined if there is none. */
  lastSure(resource: string): WrittenList | undefined {
    return this.#written(resource, isSure, 1)[0];
  }

  /**
   * The last run after which this list was proven or incremental, and that removed everything that was gone; undefined if there is
   * none.
   */
  lastSettled(resource: string): WrittenList | undefined {
    return this.#written(resource, and(isSure, eq(syncRunResources.removalsWithheld, 0)), 1)[0];
  }

  /** The runs that wrote a list, the newest first. */
  #written(resource: string, condition?: SQL, limit = -1): WrittenList[] {
    return this.#orm
      .select({
        runId: syncRunResources.runId,
        completeness: syncRunResources.completeness,
        removalsWithheld: syncRunResources.removalsWithheld,
        checksum: syncRunResources.checksum,
        recordCount: syncRunResources.recordCount,
        totalRecordCount: syncRunResources.totalRecordCount,
        updated: syncRunResources.updated,
        removed: syncRunResources.removed,
        baseUrl: syncRuns.baseUrl,
      })
      .from(syncRunResources)
      .innerJoin(syncRuns, eq(syncRuns.id, syncRunResources.runId))
      .where(and(eq(syncRunResources.resource, resource), wroteList, condition))
      .orderBy(desc(syncRunResources.runId))
      .limit(limit)
      .all();
  }

  /** The run that is recorded as running; undefined if there is none. */
  running() {
    return this.#orm
      .select({ id: syncRuns.id, startedAt: syncRuns.startedAt })
      .from(syncRuns)
      .where(eq(syncRuns.status, 'running'))
      .orderBy(desc(syncRuns.id))
      .limit(1)
      .get();
  }

  startOf(runId: number): string | undefined {
    return this.#orm
      .select({ startedAt: syncRuns.startedAt })
      .from(syncRuns)
      .where(eq(syncRuns.id, runId))
      .get()?.startedAt;
  }
}

const isSure = ne(syncRunResources.completeness, 'unproven');
function rowOf({ labels = {}, ...start }: RunStart) {
  return { ...start, labels: Object.keys(labels).length === 0 ? null : JSON.stringify(labels) };
}
