import { and, desc, eq, isNotNull } from 'drizzle-orm';
import type { ListOutcome, RunError, RunStart, RunStatus } from '../../sync/ports.ts';
import type { MirrorFile } from '../file/open.ts';
import { syncRunResources, syncRuns } from '../tables/schema.ts';

/** The record of runs: who ran when, and how each list ended. */
export class RunRecords {
  readonly #orm: MirrorFile['orm'];

  constructor(file: MirrorFile) {
    this.#orm = file.orm;
  }

  /** Records a new run. Runs that still stand as `running` died with their process, for this one holds the mirror. */
  begin(start: RunStart): number {
    return this.#orm.transaction(tx => {
      const interrupted = { status: 'interrupted' } as const;
      tx.update(syncRuns).set(interrupted).where(eq(syncRuns.status, 'running')).run();
      tx.update(syncRunResources).set(interrupted).where(eq(syncRunResources.status, 'running')).run();
      const run = tx
        .insert(syncRuns)
        .values({ status: 'running', ...start })
        .returning({ id: syncRuns.id })
        .get();
      return run.id;
    });
  }

  /** Makes a run's row under an id of its own, inside a transaction that will be rolled back. */
  stage(runId: number, start: RunStart): void {
    this.#orm
      .insert(syncRuns)
      .values({ id: runId, status: 'running', ...start })
      .run();
  }

  end(runId: number, status: RunStatus, completedAt: string, error: RunError | null): void {
    this.#orm
      .update(syncRuns)
      .set({ status, completedAt, errorCode: error?.code ?? null, errorMessage: error?.message ?? null })
      .where(eq(syncRuns.id, runId))
      .run();
  }

  beginList(runId: number, resource: string, startedAt: string): void {
    this.#orm.insert(syncRunResources).values({ runId, resource, status: 'running', startedAt }).run();
  }

  /** Records how a list ended; `applied` is there where it was applied. */
  endList(
    runId: number,
    outcome: ListOutcome,
    applied: { recordCount: number; digest: string } | null,
  ): void {
    const { error, ...rest } = outcome;
    const row = {
      runId,
      ...rest,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
      recordCount: applied?.recordCount ?? null,
      digest: applied?.digest ?? null,
    };
    this.#orm
      .insert(syncRunResources)
      .values(row)
      .onConflictDoUpdate({ target: [syncRunResources.runId, syncRunResources.resource], set: row })
      .run();
  }

  /** The last run that applied this list; undefined where none has. */
  lastApplied(resource: string) {
    return this.#orm
      .select({
        runId: syncRunResources.runId,
        digest: syncRunResources.digest,
        pageSize: syncRunResources.pageSize,
        baseUrl: syncRuns.baseUrl,
      })
      .from(syncRunResources)
      .innerJoin(syncRuns, eq(syncRuns.id, syncRunResources.runId))
      .where(and(eq(syncRunResources.resource, resource), isNotNull(syncRunResources.digest)))
      .orderBy(desc(syncRunResources.runId))
      .limit(1)
      .get();
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
