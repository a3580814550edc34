import type Database from 'better-sqlite3';
import { eq, max } from 'drizzle-orm';
import { isHeld } from '../file/lock-file.ts';
import { firstValue } from '../tables/query.ts';
import { syncRuns } from '../tables/schema.ts';
import { select } from '../tables/statement.ts';

const newestRunning = () =>
  select({ id: max(syncRuns.id) })
    .from(syncRuns)
    .where(eq(syncRuns.status, 'running'));

/**
 * The newest run whose process is gone: it is `running` in the table until the next run begins. Null if there is none. To be asked outside
 * of a transaction.
 *
 * A run has the lock for as long as it is `running`. If it is that before and after a look at a lock that nobody has, it died.
 */
export function diedRun(sqlite: Database.Database): number | null {
  const runId = firstValue(sqlite, newestRunning) ?? null;
  if (runId === null || isHeldOrUnknown(sqlite.name)) return null;
  return firstValue(sqlite, newestRunning) === runId ? runId : null;
}

/** The status of a run as commands say it. */
export function statusAsSaid(status: string, runId: number, diedRunId: number | null): string {
  return status === 'running' && diedRunId !== null && runId <= diedRunId ? 'died' : status;
}

/** A user who can't look at the lock can't tell. */
function isHeldOrUnknown(path: string): boolean {
  try {
    return isHeld(path);
  } catch {
    return true;
  }
}
