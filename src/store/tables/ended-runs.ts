import { allValues, firstRow, firstValue, type Sqlite } from './ask.ts';

/** A condition in SQL, on its own or behind a table's alias: the run wrote the list, at least as far as it was read. */
export const wroteListSql = 'completeness IS NOT NULL';

/** A condition in SQL: a run completed the list, but perhaps for records that could not be read. */
export const isCompleteSql = `(status = 'completed' OR
  status = 'partial' AND completeness IN ('proven', 'incremental') AND removals_withheld = 0)`;

const hasEnded = "status <> 'running'";
// A run whose process died has no end of its own: it counts as ended when the next run began.
const endOfRun = `coalesce(completed_at,
  (SELECT next.started_at FROM sync_runs next WHERE next.id > sync_runs.id ORDER BY next.id LIMIT 1), started_at)`;

/** Finds runs by number and by time. Only ended runs count, because the result of any other run is not known yet. */
export class EndedRuns {
  readonly #sqlite;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  /** The newest run; null if there is none. */
  newest(): number | null {
    return firstValue(this.#sqlite, `SELECT max(id) FROM sync_runs WHERE ${hasEnded}`);
  }

  has(runId: number): boolean {
    const ended = `SELECT 1 FROM sync_runs WHERE id = ? AND ${hasEnded}`;
    return firstRow(this.#sqlite, ended, runId) !== undefined;
  }

  /** The newest run that had ended by then; null if there is none. */
  newestBy(instant: string): number | null {
    const newest = `SELECT max(id) FROM sync_runs WHERE ${hasEnded} AND ${endOfRun} <= ?`;
    return firstValue(this.#sqlite, newest, instant);
  }

  /** The last run up to which all runs had ended by an instant; 0 if there is none. So a wrong clock does not count for others. */
  lastOfAllBy(instant: string): number {
    const later = `SELECT min(id) - 1 FROM sync_runs WHERE status = 'running' OR ${endOfRun} > ?`;
    return firstValue<number>(this.#sqlite, later, instant) ?? this.newest() ?? 0;
  }

  /** The runs after this one, the oldest first. */
  since(runId: number): number[] {
    const later = `SELECT id FROM sync_runs WHERE id > ? AND ${hasEnded} ORDER BY id`;
    return allValues(this.#sqlite, later, runId);
  }

  endOf(runId: number): string | null {
    return firstValue(this.#sqlite, `SELECT ${endOfRun} FROM sync_runs WHERE id = ?`, runId);
  }

  /** How a run dealt with a list, null if it left that alone; and the last run up to it that wrote the list, null if there is none. */
  list(runId: number, resource: string) {
    const ofList = <Value>(what: string, runs: string) => {
      const select = `SELECT ${what} FROM sync_run_resources WHERE resource = ? AND run_id ${runs}`;
      return firstValue<Value>(this.#sqlite, select, resource, runId);
    };
    return {
      status: ofList<string>('status', '= ?'),
      writtenByRunId: ofList<number>('max(run_id)', `<= ? AND ${wroteListSql}`),
    };
  }
}
