import type Database from 'better-sqlite3';
import { and, desc, eq, gte, ne, notExists, type SQL, sql } from 'drizzle-orm';
import type { ResourceName } from '../../contract/lists.ts';
import type { ListOutcome, ReceiptHead, RunError, RunStart, RunStatus } from '../../sync/ports.ts';
import type { MirrorFile } from '../file/open.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState, writeRunReceipt } from '../receipts/run-receipt.ts';
import { type FingerprintedTable, Fingerprints } from '../tables/fingerprints.ts';
import { firstValue } from '../tables/query.ts';
import { syncReceipts, syncRunResources, syncRuns } from '../tables/schema.ts';
import { wroteList } from '../tables/written-lists.ts';
import type { OpenTransaction } from './transaction.ts';

const interrupted = { status: 'interrupted' } as const;

/** More runs than anyone alters that one can be found which nobody has. */
const settledLookedAt = 10;

/** A run that wrote a list, as far as the next run asks. */
export interface WrittenList {
  readonly runId: number;
  /** False where another program has altered what the run recorded: nothing may rest on it. */
  readonly isAsWritten: boolean;
  readonly completeness: string | null;
  readonly removalsWithheld: number;
  /** Null in runs of 0.1.0. */
  readonly checksum: string | null;
  readonly recordCount: number | null;
  readonly updated: number;
  readonly removed: number;
  readonly baseUrl: string;
}

/** The record of runs: who ran when, and how each list ended. */
export class RunRecords {
  readonly #orm: MirrorFile['orm'];
  readonly #sqlite: Database.Database;

  constructor(file: MirrorFile) {
    this.#orm = file.orm;
    this.#sqlite = file.sqlite;
  }

  /**
   * Records a new run. Runs that still stand as `running` died with their process, for this one holds the mirror: each gets its
   * receipt now.
   */
  begin(transaction: OpenTransaction, start: RunStart): number {
    for (const runId of this.#allRunning()) this.#interrupt(transaction, runId);
    const run = this.#orm
      .insert(syncRuns)
      .values({ status: 'running', ...start })
      .returning({ id: syncRuns.id })
      .get();
    this.#note('sync_runs', run.id);
    return run.id;
  }

  #interrupt({ sqlite }: OpenTransaction, runId: number): void {
    this.#rewriteRun(runId, interrupted);
    this.#cutOffLists(runId);
    writeRunReceipt(sqlite, runId);
  }

  /** Ends the lists that a run left under way. */
  #cutOffLists(runId: number): void {
    const underWay = and(eq(syncRunResources.runId, runId), eq(syncRunResources.status, 'running'));
    const rows = this.#orm
      .select({ rowId: sql<number>`rowid`, resource: syncRunResources.resource })
      .from(syncRunResources)
      .where(underWay)
      .all();
    for (const { rowId, resource } of rows) {
      const values = { ...interrupted, ...this.#stateOf(resource as ResourceName) };
      this.#rewrite('sync_run_resources', rowId, () =>
        this.#orm.update(syncRunResources).set(values).where(eq(sql`rowid`, rowId)).run(),
      );
    }
  }

  #allRunning(): number[] {
    // What has a receipt has ended, whatever another program made of its row.
    const receipted = this.#orm
      .select({ runId: syncReceipts.runId })
      .from(syncReceipts)
      .where(eq(syncReceipts.runId, syncRuns.id));
    const running = this.#orm
      .select({ id: syncRuns.id })
      .from(syncRuns)
      .where(and(eq(syncRuns.status, 'running'), notExists(receipted)));
    return running
      .orderBy(syncRuns.id)
      .all()
      .map(({ id }) => id);
  }

  /** Makes a run's row under an id of its own, inside a transaction that will be rolled back. */
  beginUnrecorded(_transaction: OpenTransaction, runId: number, start: RunStart): void {
    this.#orm
      .insert(syncRuns)
      .values({ id: runId, status: 'running', ...start })
      .run();
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
    this.#rewrite('sync_runs', runId, () =>
      this.#orm.update(syncRuns).set(values).where(eq(syncRuns.id, runId)).run(),
    );
  }

  /** Writes to a row. What another program made of it before is not noted with that: it would pass for docmirror's own from then on. */
  #rewrite(table: FingerprintedTable, rowId: number, write: () => void): void {
    const isAsWritten = new Fingerprints(this.#sqlite, table).holds(rowId);
    write();
    if (isAsWritten) this.#note(table, rowId);
  }

  /** Notes what a row says, in its fingerprint. */
  #note(table: FingerprintedTable, rowId: number): void {
    const fingerprints = new Fingerprints(this.#sqlite, table);
    fingerprints.set(rowId);
    fingerprints.save();
  }

  #noteList(runId: number, resource: string): void {
    const rowOf = 'SELECT rowid FROM sync_run_resources WHERE run_id = ? AND resource = ?';
    const rowId = firstValue<number>(this.#sqlite, rowOf, runId, resource);
    if (rowId !== undefined) this.#note('sync_run_resources', rowId);
  }

  beginList(_transaction: OpenTransaction, runId: number, resource: string, startedAt: string): void {
    this.#orm.insert(syncRunResources).values({ runId, resource, status: 'running', startedAt }).run();
    this.#noteList(runId, resource);
  }

  /** Records how a list ended that was not written, with how it stands, and returns that. */
  endUnwritten(transaction: OpenTransaction, runId: number, outcome: ListOutcome): ListOutcome {
    const { recordCount, checksum } = this.#stateOf(outcome.resource);
    const recorded = { ...outcome, checksum };
    this.endList(transaction, runId, recorded, recordCount);
    return recorded;
  }

  /** How a list stands that a run leaves as it was: what its receipt will say, too. */
  #stateOf(resource: ResourceName): { recordCount: number; checksum: string } {
    const state = lastState(this.#sqlite, new ReceiptLog(this.#sqlite), resource);
    return { recordCount: state.count, checksum: state.toString() };
  }

  /** Records how a list ended, and how many records it has. */
  endList(_transaction: OpenTransaction, runId: number, outcome: ListOutcome, recordCount: number): void {
    const { error, ...rest } = outcome;
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
    this.#noteList(runId, outcome.resource);
  }

  /** The last run that wrote this list; undefined where none did. */
  lastWritten(resource: string): WrittenList | undefined {
    return this.#written(resource, undefined, 1)[0];
  }

  /** The last full sweeps that wrote this list, the newest first; as many as are asked for. */
  sweeps(resource: string, limit: number): WrittenList[] {
    const isSweep = sql`${syncRunResources.completeness} IS NOT 'incremental'`;
    return this.#written(resource, isSweep, limit);
  }

  /** A run that wrote this list, and those after it, the newest first. */
  writtenSince(resource: string, runId: number): WrittenList[] {
    return this.#written(resource, gte(syncRunResources.runId, runId));
  }

  /** The last run that was sure of this list and withheld nothing; undefined where none was. */
  lastSettled(resource: string): WrittenList | undefined {
    const isSure = ne(syncRunResources.completeness, 'unproven');
    const isSettled = and(isSure, eq(syncRunResources.removalsWithheld, 0));
    return this.#written(resource, isSettled, settledLookedAt).find(({ isAsWritten }) => isAsWritten);
  }

  /** The newest first. */
  #written(resource: string, condition?: SQL, limit = -1): WrittenList[] {
    const isWritten = sql`${syncRunResources}.${sql.raw(wroteList)}`;
    const rows = this.#orm
      .select({
        rowId: sql<number>`${syncRunResources}.rowid`,
        runId: syncRunResources.runId,
        completeness: syncRunResources.completeness,
        removalsWithheld: syncRunResources.removalsWithheld,
        checksum: syncRunResources.checksum,
        recordCount: syncRunResources.recordCount,
        updated: syncRunResources.updated,
        removed: syncRunResources.removed,
        baseUrl: syncRuns.baseUrl,
      })
      .from(syncRunResources)
      .innerJoin(syncRuns, eq(syncRuns.id, syncRunResources.runId))
      .where(and(eq(syncRunResources.resource, resource), isWritten, condition))
      .orderBy(desc(syncRunResources.runId))
      .limit(limit)
      .all();
    const runs = new Fingerprints(this.#sqlite, 'sync_runs');
    const ofLists = new Fingerprints(this.#sqlite, 'sync_run_resources');
    return rows.map(({ rowId, ...row }) => ({
      ...row,
      isAsWritten: runs.holds(row.runId) && ofLists.holds(rowId),
    }));
  }

  /** The run that stands as running; undefined where none does. */
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
