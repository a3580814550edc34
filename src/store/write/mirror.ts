import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import type { ListOutcome, RunError, RunStart, RunStatus } from '../../contract/run.ts';
import type { Sum } from '../../contract/sum.ts';
import { codeOf, DocmirrorError } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { MirrorLock, markOf, otherWriters } from '../file/lock-file.ts';
import { isYetToMake, mirrorToWrite } from '../file/mirror-path.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { openCopy, openForWriting, openInMemory } from '../file/open-to-write.ts';
import { assertNothingIntrusive } from '../file/own-objects.ts';
import { assertWhole, explaining, explainSqliteError } from '../file/sqlite-errors.ts';
import { assertAsWritten } from '../receipts/altered-lists.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState } from '../receipts/run-receipt.ts';
import { ListTable } from '../tables/list-table.ts';
import { settleConnections } from './connections.ts';
import { pruneHistory } from './prune-history.ts';
import { rebuild } from './rebuild.ts';
import { RunRecords } from './run-records.ts';
import { transact } from './transaction.ts';

/** One change that a dry run would make; `record` and `before` are JSON in the service's shape. */
export interface RecordChange {
  readonly resource: string;
  readonly operation: 'insert' | 'update' | 'removal';
  readonly recordId: number;
  readonly record: string;
  readonly before: string | null;
}

/** Receives each change. */
export type ChangeObserver = (change: RecordChange) => void;

/** A list of an open mirror, and the run that works on it. */
export interface ListContext {
  readonly list: ListDefinition;
  readonly file: MirrorFile;
  readonly sqlite: Database.Database;
  readonly records: RunRecords;
  readonly run: CurrentRun;
  readonly table: ListTable;
  /** The sum of the list's rows according to the newest receipt. */
  readonly sum: Sum;
}

type CurrentRun = { readonly id: number } & Pick<RunStart, 'startedAt' | 'baseUrl'>;

/** The options of a run. */
interface OpenOptions {
  readonly signal: AbortSignal;
  /** Rebuild the mirror first, even if it was not altered; never in a dry run. */
  readonly mayRebuild?: boolean;
}

const never: OpenOptions = { signal: new AbortController().signal };

interface OpenMirror extends OpenOptions {
  readonly file: MirrorFile;
  /** Null for a mirror that does not exist yet, in a dry run. */
  readonly lock: MirrorLock | null;
  /** True if anything has written to the file since a run left it: every row is then checked before the run begins. */
  readonly isSuspect: boolean;
  /** Receives the changes of a dry run; null if the run is not dry. */
  readonly tell: ChangeObserver | null;
}

/** A mirror in an SQLite file; this process has its lock from `open` to `close`. */
export class SqliteMirror {
  readonly #open: OpenMirror;
  readonly #haveOthersWritten: () => boolean;
  readonly #records: RunRecords;
  /** Its id is 0 until a run begins. */
  #run: CurrentRun = { id: 0, startedAt: '', baseUrl: '' };

  /**
   * Opens the mirror for a run, and makes the file if there is none.
   *
   * @throws `mirror_busy` if another run is using it.
   * @throws MirrorFileError if the file can't be used.
   */
  static open(path: string, options = never): SqliteMirror {
    const place = mirrorToWrite(path);
    return locked(place, lock => {
      const isNew = (statSync(place, { throwIfNoEntry: false })?.size ?? 0) === 0;
      const file = openForWriting(place);
      const isSuspect = !isNew && lock.mark() !== markOf(place);
      try {
        if (isSuspect) assertUsable(file);
        return new SqliteMirror({ ...options, file, lock, isSuspect, tell: null });
      } catch (error) {
        file.close();
        throw error;
      }
    });
  }

  /** Opens a copy of the mirror for a run that changes only the copy; `tell` receives the changes that the run would make. */
  static openDry(path: string, tell: ChangeObserver, options = never): SqliteMirror {
    const place = mirrorToWrite(path);
    if (isYetToMake(place))
      return new SqliteMirror({ ...options, file: openInMemory(), lock: null, isSuspect: false, tell });
    return locked(place, lock => {
      using mirror = openMirrorForReading(place);
      const isSuspect = lock.mark() !== markOf(place);
      if (isSuspect) assertUsable(mirror);
      return new SqliteMirror({ ...options, file: openCopy(mirror), lock, isSuspect, tell });
    });
  }

  private constructor(open: OpenMirror) {
    this.#open = open;
    this.#records = new RunRecords(open.file);
    this.#haveOthersWritten = otherWriters(open.file.sqlite);
  }

  /** @returns how many rows that another program altered were dropped; null if the mirror was not rebuilt. A dry run has no id. */
  async beginRun(start: RunStart): Promise<{ runId: number | null; rowsDropped: number | null }> {
    const { id, dropped } = await this.#begin(start);
    this.#run = { id, startedAt: start.startedAt, baseUrl: start.baseUrl };
    return { runId: this.#open.tell === null ? id : null, rowsDropped: dropped };
  }

  /** Records runs whose process died as interrupted, as the next run would: a copy then has no run that has not ended. */
  async recordDeadRuns(): Promise<void> {
    if (this.#records.running() !== undefined) await this.#begin(null);
  }

  /**
   * Records that a run begins, and that earlier ones died. If the file is not as the last run left it, its rows are first compared
   * with the receipts in the same transaction. If they differ, nothing is written.
   */
  async #begin(start: RunStart | null): Promise<{ id: number; dropped: number | null }> {
    const { file, isSuspect, signal, mayRebuild = false } = this.#open;
    return transact(file, signal, async () => {
      this.#records.interruptDead();
      if (isSuspect && !mayRebuild) {
        assertNothingIntrusive(file);
        await assertAsWritten(file, new TimeSlice(signal));
      }
      const id = start === null ? 0 : this.#records.begin(start);
      return { id, dropped: mayRebuild && start !== null ? rebuild(file.sqlite, id, start) : null };
    });
  }

  async openList(list: ListDefinition, startedAt: string): Promise<ListContext> {
    const { file } = this.#open;
    const { sqlite } = file;
    const [records, run] = [this.#records, this.#run];
    await this.#write(() => records.beginList(run.id, list.resource, startedAt));
    return explaining(file.path, () => {
      const table = new ListTable(sqlite, list);
      return { list, file, sqlite, records, run, table, sum: lastState(sqlite, list.resource) };
    });
  }

  /** Records how a list ended that was not written. */
  async recordList(outcome: ListOutcome): Promise<ListOutcome> {
    return this.#write(() => this.#records.endList(this.#run.id, outcome));
  }

  /** Deletes old versions of records, as `pruneHistory` does, and returns how many; a dry run deletes none. */
  async pruneHistory(keepMs: number, at: string): Promise<number> {
    const { file, signal, tell } = this.#open;
    return tell !== null ? 0 : pruneHistory(file, { runId: this.#run.id, keepMs, at, signal });
  }

  async endRun(status: RunStatus, completedAt: string, error: RunError | null) {
    const { file, tell } = this.#open;
    const { id } = this.#run;
    const head = await this.#write(() => {
      // All lists have said by now what they call their connections.
      settleConnections(file.sqlite, id);
      return this.#records.end(id, status, completedAt, error);
    });
    if (tell === null) return head;
    const changes = file.sqlite.prepare<[number], RecordChange>(
      `SELECT resource, operation, record_id AS recordId, record, before FROM changes
       WHERE run_id = ? AND (resource <> 'connections' OR operation = 'update')`,
    );
    for (const change of changes.iterate(id)) tell(change);
    return null;
  }

  /**
   * Folds the write-ahead log back, so that the one file is the whole mirror, and lets the next run in, even if that fails.
   *
   * @returns false if another program is using the log: the last program that closes the file then folds it back.
   */
  close(): boolean {
    const { file, lock, tell } = this.#open;
    let mark: string | null = null;
    try {
      if (tell !== null) return true;
      // Reading a page takes a short time, but copying the mirror can keep the log in use for hours.
      file.sqlite.pragma(`busy_timeout = ${readerWaitMs}`);
      const [{ busy }] = file.sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      mark = this.#takeMark();
      return busy === 0;
    } catch (error) {
      throw explainSqliteError(error, file.path);
    } finally {
      try {
        file.close();
        if (tell === null) lock?.setMark(mark);
      } finally {
        lock?.release();
      }
    }
  }

  /** How the file looks now; null if the next run must check every row, because others wrote to it or no run began. */
  #takeMark(): string | null {
    // A refused run must not make the next one trust the file.
    if (this.#open.isSuspect && this.#run.id === 0) return null;
    const mark = markOf(this.#open.file.path);
    // This comes last: a program that writes after `markOf` changes how the file looks.
    return this.#haveOthersWritten() ? null : mark;
  }

  /** Writes a few rows. After a signal it tries once: if another program has a lock, the next run records the interruption. */
  #write<T>(work: () => T): Promise<T> {
    return transact(this.#open.file, this.#open.signal, work);
  }
}

/** How long a run waits at its end for programs that read the mirror, in milliseconds. */
const readerWaitMs = 300;

/** Opens a mirror with its lock, which is given back if that fails. */
function locked(path: string, open: (lock: MirrorLock) => SqliteMirror): SqliteMirror {
  let lock: MirrorLock;
  try {
    lock = new MirrorLock(path);
  } catch (error) {
    throw codeOf(error) === 'mirror_busy' ? new DocmirrorError('mirror_busy', describeHolder(path)) : error;
  }
  try {
    return open(lock);
  } catch (error) {
    lock.release();
    throw explainSqliteError(error, path);
  }
}

/**
 * Checks a file that others might have written to, before its rows are read.
 *
 * @throws MirrorFileError if its trees or its indexes are broken, or it has lost its id.
 */
function assertUsable(file: MirrorFile): void {
  assertWhole(file.path, file.sqlite);
  // A run without a receipt would look as if it had never ended.
  new ReceiptLog(file.sqlite).mirrorId();
}

function describeHolder(path: string): string {
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
