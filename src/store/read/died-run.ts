import type Database from 'better-sqlite3';
import { isHeld } from '../file/lock-file.ts';

/**
 * The newest run whose process is gone: it is `running` in the table until the next run begins. Null if there is none. Call it
 * outside of a transaction.
 *
 * A run has the lock for as long as it is `running`. The lock is checked between two looks at the run. If nobody has the lock, and
 * the run is `running` before and after, it died.
 */
export function diedRun(sqlite: Database.Database): number | null {
  const running = sqlite
    .prepare<[], number | null>("SELECT max(id) FROM sync_runs WHERE status = 'running'")
    .pluck();
  const runId = running.get() ?? null;
  if (runId === null || isHeldOrUnknown(sqlite.name)) return null;
  return running.get() === runId ? runId : null;
}

/** The status of a run as commands show it. */
export function statusAsSaid(status: string, runId: number, diedRunId: number | null): string {
  return status === 'running' && diedRunId !== null && runId <= diedRunId ? 'died' : status;
}

/** True also for a user who has no permission to look at the lock. */
function isHeldOrUnknown(path: string): boolean {
  try {
    return isHeld(path);
  } catch {
    return true;
  }
}
