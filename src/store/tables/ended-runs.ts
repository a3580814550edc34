import type Database from 'better-sqlite3';

/** A condition in SQL, on its own or behind a table's alias: the run wrote the list, at least as far as it was read. */
export const wroteListSql = 'completeness IS NOT NULL';

const hasEnded = "status <> 'running'";
// A run whose process died has no end of its own: it counts as ended when the next run began.
const endOfRun = `coalesce(completed_at,
  (SELECT next.started_at FROM sync_runs next WHERE next.id > sync_runs.id ORDER BY next.id LIMIT 1), started_at)`;

/** Finds runs by number and by time. Only ended runs count, because the result of any other run is not known yet. */
export class EndedRuns {
  readonly #sqlite;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  /** The newest run; null if there is none. */
  newest(): number | null {
    return this.#value(`SELECT max(id) FROM sync_runs WHERE ${hasEnded}`);
  }

  has(runId: number): boolean {
    return this.#value(`SELECT id FROM sync_runs WHERE id = ? AND ${hasEnded}`, runId) !== null;
  }

  /** The newest run that had ended by then; null if there is none. */
  newestBy(instant: string): number | null {
    return this.#value(`SELECT max(id) FROM sync_runs WHERE ${hasEnded} AND ${endOfRun} <= ?`, instant);
  }

  /** The last run up to which all runs had ended by an instant; 0 if there is none. So a wrong clock does not count for others. */
  lastOfAllBy(instant: string): number {
    const later = `SELECT min(id) - 1 FROM sync_runs WHERE status = 'running' OR ${endOfRun} > ?`;
    return this.#value(later, instant) ?? this.newest() ?? 0;
  }

  /** The runs after this one, the oldest first. */
  since(runId: number): number[] {
    const runs = `SELECT id FROM sync_runs WHERE id > ? AND ${hasEnded} ORDER BY id`;
    return this.#sqlite.prepare<[number], number>(runs).pluck().all(runId);
  }

  endOf(runId: number): string | null {
    return this.#value(`SELECT ${endOfRun} FROM sync_runs WHERE id = ?`, runId);
  }

  /** How a run dealt with a list, null if it left that alone; and the last run up to it that wrote the list, null if there is none. */
  list(runId: number, resource: string): { status: string | null; writtenByRunId: number | null } {
    const ofList = (what: string, runs: string) =>
      `SELECT ${what} FROM sync_run_resources WHERE run_id ${runs} ? AND resource = ?`;
    return {
      status: this.#value(ofList('status', '='), runId, resource),
      writtenByRunId: this.#value(`${ofList('max(run_id)', '<=')} AND ${wroteListSql}`, runId, resource),
    };
  }

  #value<T>(query: string, ...values: (number | string)[]): T | null {
    const statement = this.#sqlite.prepare<(number | string)[], T>(query).pluck();
    return statement.get(...values) ?? null;
  }
}
