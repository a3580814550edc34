import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type Database from 'better-sqlite3';

/** How long writing waits for another program's lock in all, in milliseconds. */
const lockWaitMsMax = 30_000;
const lockPollMs = 100;
/** How long writing goes on before signals and timers get their turn, in milliseconds. */
const turnMs = 50;

/** Begins a transaction that writes, waiting for other programs' locks without holding up signals. */
export async function beginWriting(sqlite: Database.Database, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + lockWaitMsMax;
  while (!tryBeginWriting(sqlite, Date.now() > deadline)) {
    await wait(lockPollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Begins a transaction that writes; false where another program holds the lock, unless that is to be an error. */
export function tryBeginWriting(sqlite: Database.Database, isLastTry = false): boolean {
  try {
    sqlite.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
    if (!isBusy || isLastTry) throw error;
    return false;
  }
}

export function rollBack(sqlite: Database.Database): void {
  if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
}

/** Lets signals and timers have their turn now and then while there is much to write. */
export class Turn {
  #endsAt = Date.now() + turnMs;

  async next(signal: AbortSignal): Promise<void> {
    if (Date.now() < this.#endsAt) return;
    await nextTurn();
    signal.throwIfAborted();
    this.#endsAt = Date.now() + turnMs;
  }
}
