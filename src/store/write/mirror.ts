// A mirror while a run writes to it: from its lock to the receipt at the end of the run, with each transaction.

import { setTimeout as wait } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import type { Sum } from '../../contract/sum.ts';
import { codeOf, DocmirrorError } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { MirrorLock, markOf, otherWriters } from '../file/lock-file.ts';
import { isYetToMake, type MirrorFile, mirrorToWrite, openMirrorForReading } from '../file/open.ts';
import { openCopy, openForWriting, openInMemory } from '../file/open-to-write.ts';
import { assertWhole, explaining, explainSqliteError } from '../file/sqlite-errors.ts';
import { assertAsWritten } from '../receipts/altered-lists.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState } from '../receipts/statements.ts';
import { rowsOfIgnored } from '../tables/ignored-fields.ts';
import { ListTable } from '../tables/list-table.ts';
import type { ListOutcome, RunError, RunStart, RunStatus } from '../tables/run.ts';
import { assertNothingIntrusive, rebuild } from './altered-mirror.ts';
import { updateConnections } from './connections.ts';
import { FactsSeen } from './facts.ts';
import { pruneHistory } from './prune-history.ts';
import { RunRecords } from './run-records.ts';

/** One change that a dry run would make; `record` and `before` are JSON in the service's shape. */
export interface RecordChange {
  readonly resource: string;
  readonly operation: 'insert' | 'update' | 'removal';
  readonly recordId: number;
  readonly record: string;
  readonly before: string | null;
}

/** A list of an open mirror, and the run that works on it. */
export interface ListContext {
  readonly list: ListDefinition;
  readonly file: MirrorFile;
  readonly sqlite: Database.Database;
  readonly runs: RunRecords;
  readonly runId: number;
  readonly table: ListTable;
  /** Fields that the contents of this run leave out. */
  readonly ignored: ReadonlySet<string>;
  /** The sum of the list's rows according to the newest receipt. */
  readonly sumBefore: Sum;
  /** Whether another program has written to the mirror since the last question. */
  readonly haveOthersWritten: () => boolean;
  /** What the run sees of the service. */
  readonly facts: FactsSeen;
  readonly signal: AbortSignal;
}

interface OpenOptions {
  readonly signal: AbortSignal;
  /** Rebuild the mirror first, even if it was not altered; never in a dry run. */
  readonly mayRebuild?: boolean;
  /** Makes the run a dry one, which changes only a copy, and receives the changes that it would make. */
  readonly tell?: (change: RecordChange) => void;
}

/** A mirror in an SQLite file; this process has its lock from `open` to `close`. */
export class SqliteMirror {
  readonly #file: MirrorFile;
  /** Null for a mirror that does not exist yet, in a dry run. */
  readonly #lock: MirrorLock | null;
  /** True if anything has written to the file since a run left it: every row is then checked before the run begins. */
  readonly #isSuspect: boolean;
  readonly #options: OpenOptions;
  readonly #haveOthersWritten: () => boolean;
  readonly #runs: RunRecords;
  /** What the run sees of the service; its end writes it. */
  readonly facts = new FactsSeen();
  /** 0 until a run begins. */
  #runId = 0;

  /** Opens the mirror for a run, and makes a missing file. Throws `mirror_busy`, or a MirrorFileError if the file can't be used. */
  static open(path: string, options: OpenOptions): SqliteMirror {
    const place = mirrorToWrite(path);
    const isDry = options.tell !== undefined;
    if (isDry && isYetToMake(place)) return new SqliteMirror(openInMemory(), null, false, options);
    return explaining(place, () => {
      using opening = new DisposableStack();
      const lock = opening.use(lockOf(place));
      const isSuspect = !isYetToMake(place) && lock.mark() !== markOf(place);
      const file = opening.use(isDry ? copyOf(place) : openForWriting(place));
      if (isSuspect) {
        assertWhole(place, file.sqlite);
        // A run without a receipt would look as if it had never ended.
        new ReceiptLog(file.sqlite).mirrorId();
      }
      opening.move();
      return new SqliteMirror(file, lock, isSuspect, options);
    });
  }

  private constructor(file: MirrorFile, lock: MirrorLock | null, isSuspect: boolean, options: OpenOptions) {
    this.#file = file;
    this.#lock = lock;
    this.#isSuspect = isSuspect;
    this.#options = options;
    this.#runs = new RunRecords(file);
    this.#haveOthersWritten = otherWriters(file.sqlite);
  }

  /** The copy of an older mirror that was brought up to date when it was opened; null if it was not. */
  get copyOfBefore(): string | null {
    return this.#file.copyOfBefore ?? null;
  }

  /** @returns how many rows that another program altered were dropped; null if the mirror was not rebuilt. A dry run has no id. */
  async beginRun(start: RunStart): Promise<{ runId: number | null; rowsDropped: number | null }> {
    const { id, dropped } = await this.#begin(start);
    this.#runId = id;
    return { runId: this.#options.tell === undefined ? id : null, rowsDropped: dropped };
  }

  /** Records runs whose process died as interrupted, as the next run would: a copy then has no run that has not ended. */
  async recordDeadRuns(): Promise<void> {
    if (this.#runs.running() !== undefined) await this.#begin(null);
  }

  /** Records that a run begins, and that earlier ones died; after comparing the rows with the receipts if others wrote to the file. */
  async #begin(start: RunStart | null): Promise<{ id: number; dropped: number | null }> {
    const { signal, mayRebuild = false } = this.#options;
    const file = this.#file;
    return transact(file, signal, async () => {
      this.#runs.interruptDead();
      if (this.#isSuspect && !mayRebuild) {
        assertNothingIntrusive(file);
        await assertAsWritten(file, new TimeSlice(signal));
      }
      const id = start === null ? 0 : this.#runs.begin(start);
      // A further run of the same process goes on with what the rebuilt mirror has.
      const isFirst = this.#runId === 0;
      const dropped = mayRebuild && isFirst && start !== null ? rebuild(file.sqlite, id, start) : null;
      return { id, dropped };
    });
  }

  /** @param ignored the names of fields beside the contract that do not count, in order. */
  async openList(
    list: ListDefinition,
    startedAt: string,
    ignored: readonly string[] = [],
  ): Promise<ListContext> {
    const [file, runs, runId] = [this.#file, this.#runs, this.#runId];
    const { path, sqlite } = file;
    await this.#write(() => runs.beginList(runId, list.resource, startedAt, ignored));
    return explaining(path, () => ({
      list,
      file,
      sqlite,
      runs,
      runId,
      table: new ListTable(sqlite, list, rowsOfIgnored(sqlite, list, ignored)),
      ignored: new Set(ignored),
      sumBefore: lastState(sqlite, list.resource),
      haveOthersWritten: otherWriters(sqlite),
      facts: this.facts,
      signal: this.#options.signal,
    }));
  }

  /** Records how a list ended that was not written. */
  async recordList(outcome: ListOutcome): Promise<ListOutcome> {
    return this.#write(() => this.#runs.endList(this.#runId, outcome));
  }

  /** Deletes old versions of records, as `pruneHistory` does, and returns how many; a dry run deletes none. */
  async pruneHistory(keepMs: number, at: string): Promise<number> {
    const { signal, tell } = this.#options;
    if (tell !== undefined) return 0;
    const options = { runId: this.#runId, keepMs, at, signal };
    return pruneHistory(this.#file.sqlite, options, work => this.#write(work));
  }

  /** Returns the head of the receipts, null in a dry run, and what has changed at the service. */
  async endRun(status: RunStatus, completedAt: string, error: RunError | null) {
    const { sqlite } = this.#file;
    const { tell } = this.#options;
    const end = await this.#write(() => {
      // All lists have said by now what they call their connections.
      updateConnections(sqlite, this.#runId);
      const serviceChanges = this.facts.write(sqlite, this.#runId);
      return { receipt: this.#runs.end(this.#runId, status, completedAt, error), serviceChanges };
    });
    if (tell === undefined) return end;
    const planned = `SELECT resource, operation, record_id AS recordId, record, before FROM changes
      WHERE run_id = ? AND (resource <> 'connections' OR operation = 'update')`;
    const changes = sqlite.prepare<[number], RecordChange>(planned);
    for (const change of changes.iterate(this.#runId)) tell(change);
    return { ...end, receipt: null };
  }

  /** Folds the log back, and lets the next run in. If others use the log, or there is an error, it stays: the run is recorded all the same. */
  close(): { isInUse: boolean; error: unknown } {
    const { path, sqlite } = this.#file;
    const isDry = this.#options.tell !== undefined;
    let mark: string | null = null;
    try {
      if (isDry) return { isInUse: false, error: null };
      // Reading a page takes a short time, but copying the mirror can keep the log in use for hours.
      sqlite.pragma(`busy_timeout = ${readerWaitMs}`);
      const [{ busy }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      mark = this.#takeMark();
      return { isInUse: busy !== 0, error: null };
    } catch (error) {
      return { isInUse: false, error: explainSqliteError(error, path) };
    } finally {
      try {
        this.#file.close();
        if (!isDry) this.#lock?.setMark(mark);
      } finally {
        this.#lock?.release();
      }
    }
  }

  /** How the file looks now; null if the next run must check every row, because others wrote to it or no run began. */
  #takeMark(): string | null {
    // A refused run must not make the next one trust the file.
    if (this.#isSuspect && this.#runId === 0) return null;
    const mark = markOf(this.#file.path);
    // This comes last: a program that writes after `markOf` changes how the file looks.
    return this.#haveOthersWritten() ? null : mark;
  }

  /** Writes a few rows. After a signal it tries once: if another program has a lock, the next run records the interruption. */
  #write<T>(work: () => T | Promise<T>): Promise<T> {
    return transact(this.#file, this.#options.signal, work);
  }
}

/** How long a run waits at its end for programs that read the mirror, in milliseconds. */
const readerWaitMs = 300;

function copyOf(path: string): MirrorFile {
  using mirror = openMirrorForReading(path);
  return openCopy(mirror);
}

function lockOf(path: string): MirrorLock {
  try {
    return new MirrorLock(path);
  } catch (error) {
    throw codeOf(error) === 'mirror_busy' ? new DocmirrorError('mirror_busy', holderOf(path)) : error;
  }
}

function holderOf(path: string): string {
  const advice = 'Wait until it is done, or stop it.';
  try {
    using file = openMirrorForReading(path);
    const run = new RunRecords(file).running();
    if (run !== undefined) return `Run ${run.id} has been using ${path} since ${run.startedAt}. ${advice}`;
  } catch {
    // The other run might be creating the file just now: it is in use all the same.
  }
  return `Another run is using ${path}. ${advice}`;
}

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
