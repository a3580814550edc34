import type Database from 'better-sqlite3';
import { firstValue, firstValues } from './query.ts';
import { wroteList } from './written-lists.ts';

/** How a run dealt with one list; `status` is null where the run left the list alone. */
export interface ListInRun {
  readonly status: string | null;
  /** The last run up to this one that wrote the list; null where none had. */
  readonly writtenByRunId: number | null;
}

// A run whose process died has no end of its own: until the next run began, nobody was told of what it did.
const endOfRun = `coalesce(r.completed_at,
  (SELECT n.started_at FROM sync_runs n WHERE n.id > r.id ORDER BY n.id LIMIT 1), r.started_at)`;

/** Finds runs by number and by time. A run counts when it has ended: until then it is not known what it comes to. */
export class EndedRuns {
  readonly #sqlite: Database.Database;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  /** The newest run; null where there is none. */
  newest(): number | null {
    return this.#one('SELECT max(id) FROM sync_runs WHERE status <> ?', 'running');
  }

  has(runId: number): boolean {
    return this.#one("SELECT id FROM sync_runs WHERE id = ? AND status <> 'running'", runId) !== null;
  }

  /** The newest run that had ended by then; null where none had. */
  newestBy(instant: string): number | null {
    return this.#one(
      `SELECT max(r.id) FROM sync_runs r WHERE r.status <> 'running' AND ${endOfRun} <= ?`,
      instant,
    );
  }

  /**
   * The last run up to which all had ended by an instant; 0 where not even the first had. A run that a wrong clock dates back does not
   * count for those before it.
   */
  lastOfAllBy(instant: string): number {
    const first = this.#one<number>(
      `SELECT min(r.id) FROM sync_runs r WHERE r.status = 'running' OR ${endOfRun} > ?`,
      instant,
    );
    return first === null ? (this.newest() ?? 0) : first - 1;
  }

  /** Later runs than this, the oldest first. */
  since(runId: number): number[] {
    const later = "SELECT id FROM sync_runs WHERE id > ? AND status <> 'running' ORDER BY id";
    return firstValues(this.#sqlite, later, runId);
  }

  endOf(runId: number): string | null {
    return this.#one(`SELECT ${endOfRun} FROM sync_runs r WHERE r.id = ?`, runId);
  }

  /** How a run dealt with a list. */
  list(runId: number, resource: string): ListInRun {
    const status = this.#one<string>(
      'SELECT status FROM sync_run_resources WHERE run_id = ? AND resource = ?',
      runId,
      resource,
    );
    const writtenByRunId = this.#one<number>(
      `SELECT max(run_id) FROM sync_run_resources WHERE run_id <= ? AND resource = ? AND ${wroteList}`,
      runId,
      resource,
    );
    return { status, writtenByRunId };
  }

  #one<T extends number | string>(sql: string, ...values: (number | string)[]): T | null {
    return firstValue<T | null>(this.#sqlite, sql, ...values) ?? null;
  }
}
