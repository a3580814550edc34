import type Database from 'better-sqlite3';
import { firstValue } from '../tables/query.ts';

/**
 * When the last completed run of a list ended; null where there is none.
 *
 * @param which which of them count, as a condition in SQL: all where it is left out.
 */
export function lastCompletedAt(sqlite: Database.Database, resource: string, which = 'true'): string | null {
  const newest = `SELECT completed_at FROM sync_run_resources
    WHERE resource = ? AND status = 'completed' AND ${which} ORDER BY run_id DESC LIMIT 1`;
  return firstValue<string>(sqlite, newest, resource) ?? null;
}
