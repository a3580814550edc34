import type Database from 'better-sqlite3';

/**
 * When the last completed run of a list ended; null where there is none.
 *
 * @param which which of them count, as a condition in SQL: all where it is left out.
 */
export function lastCompletedAt(sqlite: Database.Database, resource: string, which = 'true'): string | null {
  const newest = sqlite
    .prepare<[string], string>(
      `SELECT completed_at FROM sync_run_resources WHERE resource = ? AND status = 'completed' AND ${which}
       ORDER BY run_id DESC LIMIT 1`,
    )
    .pluck()
    .get(resource);
  return newest ?? null;
}
