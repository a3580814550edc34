import { existsSync } from 'node:fs';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { CancelledError, MirrorBusyError } from '../../errors.ts';
import type {
  ListMirror,
  ListOutcome,
  Mirror,
  ReceiptHead,
  RunError,
  RunStart,
  RunStatus,
} from '../../sync/ports.ts';
import { FilePlace, markOf } from '../file/file-identity.ts';
import { isYetToMake, mirrorToWrite } from '../file/mirror-path.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { openForDryRun, openForWriting, openInMemory } from '../file/open-to-write.ts';
import { OtherWriters } from '../file/other-writers.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { stagingPath } from '../file/staging-file.ts';
import { assertComplete, assertWhole } from '../file/whole.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import type { CurrentRun } from './list-context.ts';
import { SqliteListMirror } from './list-mirror.ts';
import { mendBooks, removeStrayConnections } from './mend-books.ts';
import { pruneHistory } from './prune-history.ts';
import type { ChangeObserver } from './row-writer.ts';
import { RunRecords } from './run-records.ts';
import { type MirrorMark, Staging } from './staging.ts';
import { type OpenTransaction, TransactionOwner } from './transaction.ts';

/** What a mirror is opened with. */
interface OpenMirror {
  readonly file: MirrorFile;
  readonly lock: Staging;
  readonly staging: Staging;
  readonly signal: AbortSignal;
  /** Told of what a dry run would change; its presence makes the run dry. */
  readonly observe: ChangeObserver | undefined;
}

/** A mirror in an SQLite file, held by this process alone from `open` to `close`. */
export class SqliteMirror implements Mirror {
  readonly #open: OpenMirror;
  readonly #place: FilePlace;
  readonly #others: OtherWriters;
  readonly #transactions: TransactionOwner;
  readonly #records: RunRecords;
  /** Lists whose rows may not be what docmirror wrote. */
  readonly #suspects: Set<string>;
  /** True where another program has written to the mirror since this run opened it. */
  #isShared = false;
  /** True while a run puts right what another program may have done to the mirror as a whole. */
  #isMending = false;
  #run: CurrentRun | undefined;

  /**
   * Opens the mirror for a run, making the file where there is none.
   *
   * @throws MirrorBusyError where another run holds it.
   * @throws MirrorFileError where the file can't be used.
   */
  static open(path: string, signal: AbortSignal = new AbortController().signal): SqliteMirror {
    const optionsWith = (lock: Staging) => ({ staging: lock, signal, observe: undefined });
    return SqliteMirror.#locked(mirrorToWrite(path), openForWriting, optionsWith);
  }

  /** Opens the mirror for a run that changes nothing and makes no file; `tell` is told of what it would change. */
  static openDry(
    path: string,
    tell: ChangeObserver,
    signal: AbortSignal = new AbortController().signal,
  ): SqliteMirror {
    const observe = withoutRepeats(tell);
    const file = mirrorToWrite(path);
    const staging = Staging.openTemporary();
    if (isYetToMake(file)) {
      return new SqliteMirror({ file: openInMemory(), lock: staging, staging, signal, observe }, new Set());
    }
    openMirrorForReading(file).close();
    return SqliteMirror.#locked(file, openForDryRun, () => ({ staging, signal, observe }));
  }

  static #locked(
    file: string,
    open: (path: string) => MirrorFile,
    optionsWith: (lock: Staging) => Omit<OpenMirror, 'file' | 'lock'>,
  ): SqliteMirror {
    const lock = openLock(file);
    try {
      const suspects = suspectsIn(file, lock);
      const mirror = new SqliteMirror(
        { ...optionsWith(lock), lock, file: openAsIs(file, open, suspects) },
        suspects,
      );
      // Others may have written to it between the look at the file and the connection's first look.
      const mark = lock.mark();
      mirror.#isShared = mark !== null && !isEveryList(suspects) && mark.file !== markOf(file);
      return mirror;
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  private constructor(open: OpenMirror, suspects: Set<string>) {
    this.#open = open;
    this.#suspects = suspects;
    this.#records = new RunRecords(open.file);
    this.#place = new FilePlace(open.file.path);
    this.#others = new OtherWriters(open.file.sqlite);
    this.#transactions = new TransactionOwner(open.file.sqlite, open.file.path, () => {
      open.lock.assertInPlace();
      this.#place.assertKept({ is: 'the mirror', danger: 'nobody would find what is written to it' });
    });
  }

  async beginRun(start: RunStart): Promise<number | null> {
    const isDry = this.#open.observe !== undefined;
    this.#isMending = isEveryList(this.#suspects) && !isDry;
    if (this.#isMending) await this.#write(mendBooks);
    const id = isDry ? dryRunId : await this.#write(transaction => this.#begin(transaction, start));
    const prepare = (transaction: OpenTransaction) => {
      if (isDry) this.#records.beginUnrecorded(transaction, id, start);
    };
    const { startedAt, baseUrl } = start;
    this.#run = {
      id,
      startedAt,
      baseUrl,
      isDry,
      signal: this.#open.signal,
      prepare,
      heard: new Map(),
    };
    return isDry ? null : id;
  }

  #begin(transaction: OpenTransaction, start: RunStart): number {
    const id = this.#records.begin(transaction, start);
    if (this.#isMending) new ConnectionTable(transaction.sqlite).bringBackMissing(id);
    return id;
  }

  async openList(list: ListDefinition, startedAt: string): Promise<ListMirror> {
    const { file, staging, observe } = this.#open;
    const run = this.#current;
    if (!run.isDry) {
      await this.#write(transaction =>
        this.#records.beginList(transaction, run.id, list.resource, startedAt),
      );
    }
    try {
      const world = { file, transactions: this.#transactions, staging, records: this.#records };
      this.#isShared ||= this.#others.haveWritten();
      const isSuspect = this.#isShared || this.#suspects.has(list.resource);
      const listMirror = await SqliteListMirror.open({ list, ...world, run, observe }, isSuspect);
      if (listMirror.doubt === null) this.#suspects.delete(list.resource);
      return listMirror;
    } catch (error) {
      throw explainSqliteError(error, file.path);
    }
  }

  async recordList(outcome: ListOutcome): Promise<ListOutcome> {
    // A list that fails while it is written leaves its transaction open.
    this.#transactions.rollBack();
    const { id, isDry } = this.#current;
    if (isDry) return outcome;
    return this.#write(transaction => this.#records.endUnwritten(transaction, id, outcome));
  }

  async pruneHistory(before: string, at: string): Promise<void> {
    const { isDry, signal } = this.#current;
    if (!isDry) await pruneHistory(this.#transactions, { before, at, signal });
  }

  async endRun(status: RunStatus, completedAt: string, error: RunError | null): Promise<ReceiptHead | null> {
    // A fault amid a list leaves its transaction open.
    this.#transactions.rollBack();
    const { id, isDry } = this.#current;
    if (isDry) return null;
    return this.#write(transaction => {
      if (this.#isMending) removeStrayConnections(transaction, id);
      return this.#records.end(transaction, id, status, completedAt, error);
    });
  }

  /**
   * Folds the write-ahead log back, so that the one file is the whole mirror, and lets the next run in, whatever fails.
   *
   * @returns false where another program holds on to the log: what was written stands in it, and whoever closes the file last folds it back.
   * @throws MirrorFileError where the log can't be folded back; what was committed stands in it.
   */
  close(): boolean {
    const { file, staging, lock, observe } = this.#open;
    let mark: MirrorMark | null = null;
    try {
      this.#transactions.rollBack();
      if (observe !== undefined) return true;
      // Who reads a page is done soon, and who copies the mirror may hold on to the log for hours.
      file.sqlite.pragma(`busy_timeout = ${readerWaitMs}`);
      const [{ busy }] = file.sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      mark = this.#takeMark();
      return busy === 0;
    } catch (error) {
      throw explainSqliteError(error, file.path);
    } finally {
      try {
        file.close();
        if (staging !== lock) staging.close();
        else lock.setMark(mark);
      } finally {
        lock.close();
      }
    }
  }

  /**
   * Where a run looked at some lists alone, the next one need look at the others alone. What others wrote while it went on it can't
   * vouch for: the next one looks at all.
   */
  #takeMark(): MirrorMark | null {
    const mark = { file: markOf(this.#open.file.path), suspects: [...this.#suspects] };
    // Asked last: who writes after the look at the file changes how it looks.
    this.#isShared ||= this.#others.haveWritten();
    return this.#isShared || isEveryList(this.#suspects) || !this.#place.isKept ? null : mark;
  }

  /** Writes a few rows. After a signal it is tried once: the next run sees that this one was interrupted. */
  async #write<T>(work: (transaction: OpenTransaction) => T): Promise<T> {
    const { signal, file } = this.#open;
    const patient = signal.aborted ? AbortSignal.timeout(lastWriteMsMax) : signal;
    try {
      return await this.#transactions.write(patient, work);
    } catch (error) {
      if (patient !== signal && patient.aborted) throw unrecorded(signal.reason, file.path);
      throw explainSqliteError(error, file.path);
    }
  }

  get #current(): CurrentRun {
    if (this.#run === undefined) throw new Error('A run must begin before its lists are opened.');
    return this.#run;
  }
}

/** How long a run waits at its end for those who read the mirror, in milliseconds. */
const readerWaitMs = 300;

/** What ends a run that was told to stop where another program lets nobody write that down. */
function unrecorded(reason: unknown, path: string): unknown {
  if (!(reason instanceof CancelledError)) return reason;
  const more = `Another program holds a lock on ${path}: the next run records this one, as interrupted.`;
  return new CancelledError(reason.signal, more);
}

/** How long a run that was told to stop waits for another program's lock to record that, in milliseconds. */
const lastWriteMsMax = 1_000;

/** No recorded run has this id: SQLite counts from 1. */
const dryRunId = 0;

/** Each list of a dry run is taken back by itself, so that several may change one connection; the first one's word goes. */
function withoutRepeats(tell: ChangeObserver): ChangeObserver {
  const connections = new Set<number>();
  return change => {
    if (change.resource === 'connections' && connections.has(change.recordId)) return;
    if (change.resource === 'connections') connections.add(change.recordId);
    tell(change);
  };
}

function openLock(path: string): Staging {
  try {
    return Staging.open(stagingPath(path));
  } catch (error) {
    throw error instanceof MirrorBusyError ? new MirrorBusyError(describeHolder(path)) : error;
  }
}

/** The lists to be looked at before they are believed: all, where anything has written to the file since a run left it. */
function suspectsIn(path: string, lock: Staging): Set<string> {
  if (!existsSync(path)) return new Set();
  const mark = lock.mark();
  return new Set(mark?.file === markOf(path) ? mark.suspects : lists.map(({ resource }) => resource));
}

/** Whether every list is a suspect, and so is the mirror as a whole. */
function isEveryList(suspects: ReadonlySet<string>): boolean {
  return suspects.size === lists.length;
}

/** Rows can be put right, a broken tree or index can't: what others may have written to is looked at as a whole first. */
function openAsIs(
  path: string,
  open: (path: string) => MirrorFile,
  suspects: ReadonlySet<string>,
): MirrorFile {
  const isSuspect = isEveryList(suspects);
  const file = open(path);
  try {
    if (isSuspect) {
      assertWhole(file);
      assertComplete(file);
      new ReceiptLog(file.sqlite).assertReady();
    }
    return file;
  } catch (error) {
    file.close();
    throw explainSqliteError(error, path);
  }
}

function describeHolder(path: string): string {
  const advice = 'Wait until it is done, or stop it.';
  try {
    using file = openMirrorForReading(path);
    const run = new RunRecords(file).running();
    if (run !== undefined) return `Run ${run.id} has held ${path} since ${run.startedAt}. ${advice}`;
  } catch {
    // The other run may be making the file just now: it is held all the same.
  }
  return `Another run holds ${path}. ${advice}`;
}
