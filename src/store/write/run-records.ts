import type Database from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import { resourceNames } from '../../contract/lists.ts';
import type { MirrorFile } from '../file/open.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState, writeRunReceipt } from '../receipts/statements.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import { ignoredText } from '../tables/ignored-fields.ts';
import type { ListOutcome, RunError, RunStart, RunStatus } from '../tables/run.ts';
import { syncRunResources, syncRuns } from '../tables/schema.ts';

interface WritingRun {
  readonly runId: number;
  readonly recordCount: number | null;
  readonly totalRecordCount: number | null;
  readonly baseUrl: string;
}

/** Runs that wrote a list: all, those that were sure of it, or those that moreover removed everything that was gone. */
const kinds = {
  written: '',
  sure: "AND l.completeness <> 'unproven'",
  settled: "AND l.completeness <> 'unproven' AND l.removals_withheld = 0",
} as const;

/** The record of runs: when each one ran, and how each of its lists ended. */
export class RunRecords {
  readonly #orm: MirrorFile['orm'];
  readonly #sqlite: Database.Database;

  constructor(file: MirrorFile) {
    this.#orm = file.orm;
    this.#sqlite = file.sqlite;
  }

  /** Records that runs which are still `running` died with their process, because this process has the lock; each gets its receipt. */
  interruptDead(): void {
    // A receipt is permanent: a run that has one has ended, whatever its row says.
    const running = this.#sqlite.prepare<[], number>(
      `SELECT id FROM sync_runs s WHERE status = 'running' AND NOT EXISTS (SELECT 1 FROM sync_receipts WHERE run_id = s.id) ORDER BY id`,
    );
    for (const runId of running.pluck().all()) this.#close(runId, { status: 'interrupted' });
  }

  begin({ labels = {}, ...start }: RunStart): number {
    const text = Object.keys(labels).length === 0 ? null : JSON.stringify(labels);
    const row = { status: 'running', ...start, labels: text };
    return this.#orm.insert(syncRuns).values(row).returning({ id: syncRuns.id }).get().id;
  }

  /** Records how a run ended, and writes its receipt. */
  end(runId: number, status: RunStatus, completedAt: string, error: RunError | null) {
    this.#close(runId, {
      status,
      completedAt,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
    });
    return new ReceiptLog(this.#sqlite).head();
  }

  /** Ends a run, and those of its lists that were under way. */
  #close(runId: number, values: Partial<typeof syncRuns.$inferInsert>): void {
    this.#orm.update(syncRuns).set(values).where(eq(syncRuns.id, runId)).run();
    const interrupt = this.#sqlite.prepare(
      `UPDATE sync_run_resources SET status = 'interrupted', record_count = @recordCount, checksum = @checksum
       WHERE run_id = @runId AND resource = @resource AND status = 'running'`,
    );
    for (const resource of resourceNames) {
      const state = lastState(this.#sqlite, resource);
      interrupt.run({ runId, resource, recordCount: state.count, checksum: state.toString() });
    }
    writeRunReceipt(this.#sqlite, runId);
  }

  beginList(runId: number, resource: string, startedAt: string, ignored: readonly string[]): void {
    const ignoredFields = ignoredText(ignored);
    const row = { runId, resource, status: 'running', startedAt, ignoredFields };
    this.#orm.insert(syncRunResources).values(row).run();
  }

  /** Records how a list ended, and the sum of its rows, which is as before if it was not written. Returns the outcome with that. */
  endList(
    runId: number,
    outcome: ListOutcome,
    rows = lastState(this.#sqlite, outcome.resource),
  ): ListOutcome {
    const { error, ignoredFields, newFields: _new, restlessFields: _restless, ...rest } = outcome;
    const state = { recordCount: rows.count, checksum: rows.toString() };
    const ignored = { ignoredFields: ignoredText(ignoredFields) };
    const row = {
      runId,
      ...rest,
      ...state,
      ...ignored,
      errorCode: error?.code,
      errorMessage: error?.message,
    };
    this.#orm
      .insert(syncRunResources)
      .values(row)
      .onConflictDoUpdate({ target: [syncRunResources.runId, syncRunResources.resource], set: row })
      .run();
    return { ...outcome, checksum: state.checksum };
  }

  /** The last run that wrote a list, of a kind; undefined if there is none. */
  last(kind: keyof typeof kinds, resource: string): WritingRun | undefined {
    return this.#sqlite
      .prepare<[string], WritingRun>(
        `SELECT l.run_id AS runId, l.record_count AS recordCount, l.total_record_count AS totalRecordCount, s.base_url AS baseUrl
         FROM sync_run_resources l JOIN sync_runs s ON s.id = l.run_id
         WHERE l.resource = ? AND l.${wroteListSql} ${kinds[kind]} ORDER BY l.run_id DESC LIMIT 1`,
      )
      .get(resource);
  }

  /** The run that is recorded as running; undefined if there is none. */
  running(): { readonly id: number; readonly startedAt: string } | undefined {
    const query = `SELECT id, started_at AS startedAt FROM sync_runs WHERE status = 'running' ORDER BY id DESC LIMIT 1`;
    return this.#sqlite.prepare<[], { id: number; startedAt: string }>(query).get();
  }
}
