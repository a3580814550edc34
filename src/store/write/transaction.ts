import { setTimeout as wait } from 'node:timers/promises';
import { codeOf } from '../../errors.ts';
import type { MirrorFile } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';

/** How long writing waits for another program's lock in all, in milliseconds. */
const lockWaitMsMax = 30_000;
const lockPollMs = 100;

/** Does work in a transaction that writes; nothing is written if it fails. It waits for others' locks, but does not delay signals. */
export async function transact<T>(
  { path, sqlite }: Pick<MirrorFile, 'path' | 'sqlite'>,
  signal: AbortSignal,
  work: (rollBack: () => void) => T | Promise<T>,
): Promise<T> {
  try {
    // The wall clock can be changed meanwhile.
    const deadlineMs = performance.now() + lockWaitMsMax;
    while (!begin(deadlineMs))
      await wait(lockPollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    let end = 'COMMIT';
    const result = await work(() => {
      end = 'ROLLBACK';
    });
    sqlite.exec(end);
    return result;
  } catch (error) {
    // SQLite rolls a transaction back by itself if the disk is full or fails.
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    throw explainSqliteError(error, path);
  }

  function begin(deadlineMs: number): boolean {
    try {
      sqlite.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || performance.now() > deadlineMs) throw error;
    }
    return sqlite.inTransaction;
  }
}
