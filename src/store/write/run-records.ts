import { and, desc, eq, isNotNull } from 'drizzle-orm';
import type { ListOutcome, RunError, RunStart, RunStatus } from '../../sync/ports.ts';
import type { MirrorFile } from '../file/open.ts';
import { syncRunResources, syncRuns } from '../tables/schema.ts';
import type { OpenTransaction } from './transaction.ts';

/** A run that wrote a list, as far as the next run asks. */
export interface WrittenList {
  readonly runId: number;
  readonly completeness: string | null;
  readonly removalsWithheld: number;
  /** Null in runs of 0.1.0. */
  readonly checksum: string | null;
  readonly recordCount: number | null;
  readonly pageSize: number | null;
  readonly baseUrl: string;
}

/** The record of runs: who ran when, and how each list ended. */
export class RunRecords {
  readonly #orm: MirrorFile['orm'];

  constructor(file: MirrorFile) {
    this.#orm = file.orm;
  }

  /** Records a new run. Runs that still stand as `running` died with their process, for this one holds the mirror. */
  begin(_transaction: OpenTransaction, start: RunStart): number {
    const interrupted = { status: 'interrupted' } as const;
    this.#orm.update(syncRuns).set(interrupted).where(eq(syncRuns.status, 'running')).run();
    this.#orm.update(syncRunResources).set(interrupted).where(eq(syncRunResources.status, 'running')).run();
    const run = this.#orm
      .insert(syncRuns)
      .values({ status: 'running', ...start })
      .returning({ id: syncRuns.id })
      .get();
    return run.id;
  }

  /** Makes a run's row under an id of its own, inside a transaction that will be rolled back. */
  beginUnrecorded(_transaction: OpenTransaction, runId: number, start: RunStart): void {
    this.#orm
      .insert(syncRuns)
      .values({ id: runId, status: 'running', ...start })
      .run();
  }

  end(
    _transaction: OpenTransaction,
    runId: number,
    status: RunStatus,
    completedAt: string,
    error: RunError | null,
  ): void {
    this.#orm
      .update(syncRuns)
      .set({ status, completedAt, errorCode: error?.code ?? null, errorMessage: error?.message ?? null })
      .where(eq(syncRuns.id, runId))
      .run();
  }

  beginList(_transaction: OpenTransaction, runId: number, resource: string, startedAt: string): void {
    this.#orm.insert(syncRunResources).values({ runId, resource, status: 'running', startedAt }).run();
  }

  /** Records how a list ended; `applied` is there where it was applied. */
  endList(
    _transaction: OpenTransaction,
    runId: number,
    outcome: ListOutcome,
    applied: { readonly recordCount: number } | null,
  ): void {
    const { error, ...rest } = outcome;
    const row = {
      runId,
      ...rest,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
      recordCount: applied?.recordCount ?? null,
      checksum: outcome.checksum,
    };
    this.#orm
      .insert(syncRunResources)
      .values(row)
      .onConflictDoUpdate({ target: [syncRunResources.runId, syncRunResources.resource], set: row })
      .run();
  }

  /** The runs that wrote this list, the newest first; as many as are asked for. */
  written(resource: string, limit: number): WrittenList[] {
    return this.#orm
      .select({
        runId: syncRunResources.runId,
        completeness: syncRunResources.completeness,
        removalsWithheld: syncRunResources.removalsWithheld,
        checksum: syncRunResources.checksum,
        recordCount: syncRunResources.recordCount,
        pageSize: syncRunResources.pageSize,
        baseUrl: syncRuns.baseUrl,
      })
      .from(syncRunResources)
      .innerJoin(syncRuns, eq(syncRuns.id, syncRunResources.runId))
      .where(and(eq(syncRunResources.resource, resource), isNotNull(syncRunResources.recordCount)))
      .orderBy(desc(syncRunResources.runId))
      .limit(limit)
      .all();
  }

  /** The base address of the service that the mirror is of; null while no run has written anything. */
  baseUrl(): string | null {
    const run = this.#orm
      .select({ baseUrl: syncRuns.baseUrl })
      .from(syncRunResources)
      .innerJoin(syncRuns, eq(syncRuns.id, syncRunResources.runId))
      .where(isNotNull(syncRunResources.recordCount))
      .orderBy(desc(syncRunResources.runId))
      .limit(1)
      .get();
    return run?.baseUrl ?? null;
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
