import type Database from 'better-sqlite3';
import { and, desc, eq, type SQL } from 'drizzle-orm';
import { firstValue } from '../tables/query.ts';
import { syncRunResources } from '../tables/schema.ts';
import { select } from '../tables/statement.ts';

/**
 * When the last completed run of a list ended; null if there is none.
 *
 * @param which a condition for the runs that count; all of them if it is left out.
 */
export function lastCompletedAt(sqlite: Database.Database, resource: string, which?: SQL): string | null {
  const { completedAt, resource: of, status, runId } = syncRunResources;
  const newest = (list: string) =>
    select({ completedAt })
      .from(syncRunResources)
      .where(and(eq(of, list), eq(status, 'completed'), which))
      .orderBy(desc(runId))
      .limit(1);
  return firstValue(sqlite, newest, resource) ?? null;
}

/** Full syncs of a list, as a condition for `lastCompletedAt`. */
export const isFull: SQL = eq(syncRunResources.mode, 'full');

/** Runs of a list that proved it, as a condition for `lastCompletedAt`. */
export const isProven: SQL = eq(syncRunResources.completeness, 'proven');
