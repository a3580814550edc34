import { setTimeout as wait } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { codeOf } from '../../errors.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';

/** How long writing waits for another program's lock in all, in milliseconds. */
const lockWaitMsMax = 30_000;
const lockPollMs = 100;

declare const isOpen: unique symbol;

/**
 * An open transaction. A function that takes one as a parameter can read and write through it, but can neither begin nor end one.
 */
export interface OpenTransaction {
  readonly [isOpen]: true;
  readonly sqlite: Database.Database;
}

/** The one owner of a mirror's transactions: it begins, commits and rolls back, and knows whether one is open. */
export class TransactionOwner {
  readonly #sqlite: Database.Database;
  readonly #path: string;

  constructor(sqlite: Database.Database, path: string) {
    this.#sqlite = sqlite;
    this.#path = path;
  }

  /**
   * Begins a transaction that writes, waiting for other programs' locks without delaying signals.
   *
   * @throws MirrorFileError if another program keeps its lock.
   */
  async begin(signal: AbortSignal): Promise<OpenTransaction> {
    // The wall clock can be changed meanwhile.
    const deadlineMs = performance.now() + lockWaitMsMax;
    for (;;) {
      const transaction = this.tryBegin(performance.now() > deadlineMs);
      if (transaction !== null) return transaction;
      await wait(lockPollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Begins a transaction that writes; null if another program has the lock, unless this is the last try. */
  tryBegin(isLastTry = false): OpenTransaction | null {
    try {
      this.#sqlite.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || isLastTry) throw explainSqliteError(error, this.#path);
      return null;
    }
    return { sqlite: this.#sqlite } as OpenTransaction;
  }

  commit(): void {
    this.#sqlite.exec('COMMIT');
  }

  /** Rolls back what was written since the transaction began; does nothing if none is open. */
  rollBack(): void {
    // SQLite rolls a transaction back by itself if the disk is full or fails.
    if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK');
  }

  /** Does some writes in a transaction of their own. */
  async write<T>(signal: AbortSignal, work: (transaction: OpenTransaction) => T | Promise<T>): Promise<T> {
    try {
      const result = await work(await this.begin(signal));
      this.commit();
      return result;
    } catch (error) {
      this.rollBack();
      throw explainSqliteError(error, this.#path);
    }
  }
}
