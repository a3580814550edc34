// How a run is recorded: its begin, the end of each of its lists, and its own, with the receipt.

import type Database from 'better-sqlite3';
import { resourceNames } from '../../contract/lists.ts';
import type { MirrorFile } from '../file/open.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState, writeRunReceipt } from '../receipts/statements.ts';
import { judge } from '../tables/accepted.ts';
import { allValues, firstRow } from '../tables/ask.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import { ignoredText } from '../tables/ignored-fields.ts';
import { reasonsText } from '../tables/reasons.ts';
import {
  columnNamed,
  type ListOutcome,
  type RunError,
  type RunStart,
  type RunStatus,
} from '../tables/run.ts';

interface WritingRun {
  readonly runId: number;
  readonly recordCount: number | null;
  readonly totalRecordCount: number | null;
  readonly baseUrl: string;
  readonly query: string | null;
}

/** Runs that wrote a list: all, those that were sure of it, or those that moreover removed everything that was gone. */
const kinds = {
  written: '',
  sure: "AND l.completeness <> 'unproven'",
  clean: "AND l.completeness <> 'unproven' AND l.removals_withheld = 0",
} as const;

/** The record of runs: when each one ran, and how each of its lists ended. */
export class RunRecords {
  readonly #sqlite: Database.Database;

  constructor(file: MirrorFile) {
    this.#sqlite = file.sqlite;
  }

  /** Records that runs which are still `running` died with their process, because this process has the lock; each gets its receipt. */
  interruptDead(): void {
    // A receipt is permanent: a run that has one has ended, whatever its row says.
    const running = `SELECT id FROM sync_runs s WHERE status = 'running' AND NOT EXISTS (SELECT 1 FROM sync_receipts WHERE run_id = s.id) ORDER BY id`;
    for (const runId of allValues<number>(this.#sqlite, running)) this.#close(runId, 'interrupted');
  }

  begin({ labels = {}, query = null, ...start }: RunStart): number {
    const text = Object.keys(labels).length === 0 ? null : JSON.stringify(labels);
    const insert = `INSERT INTO sync_runs (status, "trigger", started_at, docmirror_version, base_url, _actor, labels, query)
      VALUES ('running', @trigger, @startedAt, @docmirrorVersion, @baseUrl, @actor, @labels, @query)`;
    return Number(this.#sqlite.prepare(insert).run({ ...start, labels: text, query }).lastInsertRowid);
  }

  /** Records how a run ended, and writes its receipt. */
  end(runId: number, status: RunStatus, completedAt: string, error: RunError | null) {
    this.#close(runId, status, completedAt, error);
    return new ReceiptLog(this.#sqlite).head();
  }

  /** Ends a run, and those of its lists that were under way. */
  #close(runId: number, status: RunStatus, at: string | null = null, error: RunError | null = null): void {
    const close =
      'UPDATE sync_runs SET status = ?, completed_at = ?, error_code = ?, error_message = ? WHERE id = ?';
    this.#sqlite.prepare(close).run(status, at, error?.code ?? null, error?.message ?? null, runId);
    const interruption = `UPDATE sync_run_resources SET status = 'interrupted', record_count = @recordCount, checksum = @checksum
      WHERE run_id = @runId AND resource = @resource AND status = 'running'`;
    const interrupt = this.#sqlite.prepare(interruption);
    for (const resource of resourceNames) {
      const state = lastState(this.#sqlite, resource);
      interrupt.run({ runId, resource, recordCount: state.count, checksum: state.toString() });
    }
    writeRunReceipt(this.#sqlite, runId);
  }

  beginList(runId: number, resource: string, startedAt: string, ignored: readonly string[]): void {
    this.#writeList({ runId, resource, status: 'running', startedAt, ignoredFields: ignoredText(ignored) });
  }

  /** Records how a list ended, and the sum of its rows, which is as before if it was not written. Returns the outcome with that. */
  endList(
    runId: number,
    outcome: ListOutcome,
    rowsSum = lastState(this.#sqlite, outcome.resource),
  ): ListOutcome {
    const {
      error,
      ignoredFields,
      reasons,
      newFields: _new,
      restlessFields: _restless,
      unreadableTimes: _times,
      errorOfAnyList: _any,
      open: _open,
      accepted: _accepted,
      ...rest
    } = outcome;
    const state = { recordCount: rowsSum.count, checksum: rowsSum.toString() };
    const failure = { errorCode: error?.code ?? null, errorMessage: error?.message ?? null };
    const texts = { ignoredFields: ignoredText(ignoredFields), reasons: reasonsText(reasons) };
    this.#writeList({ runId, ...rest, ...state, ...texts, ...failure });
    const atMs = Date.parse(outcome.completedAt ?? outcome.startedAt);
    const judged = judge(this.#sqlite, { runId, resource: outcome.resource, reasons }, atMs);
    return { ...outcome, ...judged, checksum: state.checksum };
  }

  /** Writes these members of a list's row; the others stay as they are. */
  #writeList(row: Readonly<Record<string, string | number | null>>): void {
    const columns = Object.keys(row).map(columnNamed);
    const values = Object.keys(row).map(member => `@${member}`);
    const set = columns.map(column => `${column} = excluded.${column}`);
    const write = `INSERT INTO sync_run_resources (${columns.join(', ')}) VALUES (${values.join(', ')})
      ON CONFLICT (run_id, resource) DO UPDATE SET ${set.join(', ')}`;
    this.#sqlite.prepare(write).run(row);
  }

  /** The last run that wrote a list, of a kind; undefined if there is none. */
  last(kind: keyof typeof kinds, resource: string): WritingRun | undefined {
    const query = `SELECT l.run_id AS runId, l.record_count AS recordCount, l.total_record_count AS totalRecordCount, s.base_url AS baseUrl, s.query
      FROM sync_run_resources l JOIN sync_runs s ON s.id = l.run_id
      WHERE l.resource = ? AND l.${wroteListSql} ${kinds[kind]} ORDER BY l.run_id DESC LIMIT 1`;
    return firstRow<WritingRun>(this.#sqlite, query, resource);
  }

  /** The run that is recorded as running; undefined if there is none. */
  running(): { readonly id: number; readonly startedAt: string } | undefined {
    const query = `SELECT id, started_at AS startedAt FROM sync_runs WHERE status = 'running' ORDER BY id DESC LIMIT 1`;
    return firstRow<{ id: number; startedAt: string }>(this.#sqlite, query);
  }
}
