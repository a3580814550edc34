import { statSync } from 'node:fs';
import type { ListDefinition } from '../../contract/lists.ts';
import type {
  ListOutcome,
  ReceiptHead,
  RunBegun,
  RunError,
  RunStart,
  RunStatus,
} from '../../contract/run.ts';
import { CancelledError, MirrorBusyError } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { markOf, OtherWriters } from '../file/file-identity.ts';
import { lockPath, MirrorLock } from '../file/lock-file.ts';
import { isYetToMake, mirrorToWrite } from '../file/mirror-path.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { openForDryRun, openForWriting, openInMemory } from '../file/open-to-write.ts';
import { assertNothingIntrusive } from '../file/own-objects.ts';
import { assertWhole, explaining, explainSqliteError } from '../file/sqlite-errors.ts';
import { assertAsWritten } from '../receipts/altered-lists.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState } from '../receipts/run-receipt.ts';
import { ListTable } from '../tables/list-table.ts';
import { ConnectionNames, settleConnections } from './connections.ts';
import type { ChangeObserver, CurrentRun, ListContext } from './list-context.ts';
import { ListMemory } from './memory.ts';
import { renamings } from './plan.ts';
import { pruneHistory } from './prune-history.ts';
import { rebuild } from './rebuild.ts';
import { RunRecords } from './run-records.ts';
import { transact } from './transaction.ts';

/** An open mirror. */
interface OpenMirror {
  readonly file: MirrorFile;
  /** Null for a mirror that does not exist yet, in a dry run. */
  readonly lock: MirrorLock | null;
  /** True if anything has written to the file since a run left it: every row is then checked before the run begins. */
  readonly isSuspect: boolean;
  readonly options: OpenOptions;
  /** Receives the changes that a dry run would make; null if the run is not dry. */
  readonly tell: ChangeObserver | null;
}

/** The options of a run. */
interface OpenOptions {
  readonly signal: AbortSignal;
  /** Rebuild the mirror first, even if it was not altered; never in a dry run. */
  readonly mayRebuild?: boolean;
  /** The longest time between full syncs, in milliseconds; a day if it is 0 or left out. */
  readonly fullEveryMs?: number;
}

/** A mirror in an SQLite file; this process has its lock from `open` to `close`. */
export class SqliteMirror {
  readonly #open: OpenMirror;
  readonly #others: OtherWriters;
  readonly #records: RunRecords;
  #run: CurrentRun | undefined;

  /**
   * Opens the mirror for a run, and makes the file if there is none.
   *
   * @throws MirrorBusyError if another run is using it.
   * @throws MirrorFileError if the file can't be used.
   */
  static open(path: string, options: OpenOptions = { signal: new AbortController().signal }): SqliteMirror {
    return SqliteMirror.#locked(mirrorToWrite(path), openForWriting, { options, tell: null });
  }

  /** Opens the mirror for a run that changes nothing and creates no file; `tell` receives the changes that it would make. */
  static openDry(
    path: string,
    tell: ChangeObserver,
    options: OpenOptions = { signal: new AbortController().signal },
  ): SqliteMirror {
    const file = mirrorToWrite(path);
    if (isYetToMake(file))
      return new SqliteMirror({ file: openInMemory(), lock: null, isSuspect: false, options, tell });
    openMirrorForReading(file).close();
    return SqliteMirror.#locked(file, openForDryRun, { options, tell });
  }

  static #locked(
    path: string,
    open: (path: string) => MirrorFile,
    others: Pick<OpenMirror, 'options' | 'tell'>,
  ): SqliteMirror {
    const isNew = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
    const lock = openLock(path);
    try {
      const file = open(path);
      try {
        const isSuspect = !isNew && lock.mark() !== markOf(path);
        if (isSuspect) assertUsable(file);
        return new SqliteMirror({ ...others, file, lock, isSuspect });
      } catch (error) {
        file.close();
        throw explainSqliteError(error, path);
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(open: OpenMirror) {
    this.#open = open;
    this.#records = new RunRecords(open.file);
    this.#others = new OtherWriters(open.file.sqlite);
  }

  async beginRun(start: RunStart): Promise<RunBegun> {
    const { file, tell, options } = this.#open;
    const { id, dropped } = await this.#begin(start);
    const { startedAt, baseUrl } = start;
    const dry = tell === null ? null : { tell, names: new ConnectionNames(file.sqlite) };
    this.#run = { id, startedAt, baseUrl, dry, signal: options.signal };
    return { runId: dry === null ? id : null, rowsDropped: dropped };
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
    const { file, isSuspect, options, tell } = this.#open;
    const { signal, mayRebuild = false } = options;
    const work = async () => {
      this.#records.interruptDead();
      if (isSuspect && !mayRebuild) {
        assertNothingIntrusive(file);
        await assertAsWritten(file, new TimeSlice(signal));
      }
      const id = tell !== null || start === null ? dryRunId : this.#records.begin(start);
      return { id, dropped: mayRebuild && start !== null ? rebuild(file.sqlite, id, start) : null };
    };
    return transact(file, signal, work, () => tell === null);
  }

  async openList(list: ListDefinition, startedAt: string): Promise<ListContext> {
    const { file } = this.#open;
    const { sqlite } = file;
    const run = this.#current;
    if (run.dry === null) await this.#write(() => this.#records.beginList(run.id, list.resource, startedAt));
    return explaining(file.path, () => ({
      list,
      file,
      records: this.#records,
      run,
      table: new ListTable(sqlite, list),
      memory: new ListMemory(sqlite, list.resource),
      sum: lastState(sqlite, list.resource),
    }));
  }

  async recordList(outcome: ListOutcome): Promise<ListOutcome> {
    const { id, dry } = this.#current;
    if (dry !== null) return outcome;
    return this.#write(() => this.#records.endUnwritten(id, outcome));
  }

  /** Deletes old versions of records, as `pruneHistory` does, and returns how many; a dry run deletes none. */
  async pruneHistory(keepMs: number, at: string): Promise<number> {
    const { id, dry, signal } = this.#current;
    return dry !== null ? 0 : pruneHistory(this.#open.file, { runId: id, keepMs, at, signal });
  }

  async endRun(status: RunStatus, completedAt: string, error: RunError | null): Promise<ReceiptHead | null> {
    const { id, dry } = this.#current;
    if (dry !== null) {
      for (const change of renamings(dry.names)) dry.tell(change);
      return null;
    }
    return this.#write(() => {
      // All lists have said by now what they call their connections.
      settleConnections(this.#open.file.sqlite, id);
      return this.#records.end(id, status, completedAt, error);
    });
  }

  /**
   * Folds the write-ahead log back, so that the one file is the whole mirror. It lets the next run in, even if something fails.
   *
   * @returns false if another program is using the log: it then has the changes, and the last program that closes the file folds it
   *   back.
   * @throws MirrorFileError if the log can't be folded back; it then has all committed changes.
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
    if (this.#open.isSuspect && this.#run === undefined) return null;
    const mark = markOf(this.#open.file.path);
    // This comes last: a program that writes after `markOf` changes how the file looks.
    return this.#others.haveWritten() ? null : mark;
  }

  /** Writes a few rows. After a signal it waits only briefly: if it fails, the next run records the interruption. */
  async #write<T>(work: () => T): Promise<T> {
    const { file, options } = this.#open;
    const { signal } = options;
    const patient = signal.aborted ? AbortSignal.timeout(lastWriteMsMax) : signal;
    try {
      return await transact(file, patient, work);
    } catch (error) {
      throw patient !== signal && patient.aborted ? unrecorded(signal.reason, file.path) : error;
    }
  }

  get #current(): CurrentRun {
    if (this.#run === undefined) throw new Error('A run must begin before its lists are opened.');
    return this.#run;
  }
}

/** How long a run waits at its end for programs that read the mirror, in milliseconds. */
const readerWaitMs = 300;

/** The error of a cancelled run that could not be recorded, because another program has a lock. */
function unrecorded(reason: unknown, path: string): unknown {
  if (!(reason instanceof CancelledError)) return reason;
  const more = `Another program has a lock on ${path}: the next run records this one, as interrupted.`;
  return new CancelledError(reason.by, more);
}

/** How long a cancelled run waits for another program's lock before it gives up recording its end, in milliseconds. */
const lastWriteMsMax = 1_000;

/** No recorded run has this id: SQLite counts from 1. */
const dryRunId = 0;

function openLock(path: string): MirrorLock {
  try {
    return MirrorLock.take(lockPath(path));
  } catch (error) {
    throw error instanceof MirrorBusyError ? new MirrorBusyError(describeHolder(path)) : error;
  }
}

/**
 * Checks a file that others might have written to, before its rows are read.
 *
 * @throws MirrorFileError if its trees, its indexes or its log of receipts are broken.
 */
function assertUsable(file: MirrorFile): void {
  assertWhole(file.path, file.sqlite);
  new ReceiptLog(file.sqlite).assertReady();
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
