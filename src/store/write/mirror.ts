import { existsSync } from 'node:fs';
import type { ListDefinition } from '../../contract/lists.ts';
import { MirrorBusyError } from '../../errors.ts';
import type { ListMirror, ListOutcome, Mirror, RunError, RunStart, RunStatus } from '../../sync/ports.ts';
import {
  assertIsMirrorOrNew,
  type MirrorFile,
  openForReading,
  openForWriting,
  openInMemory,
} from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import type { ChangeObserver } from './apply.ts';
import { SqliteListMirror } from './list-mirror.ts';
import { beginWriting, rollBack, tryBeginWriting } from './list-transaction.ts';
import type { CurrentRun } from './list-writing.ts';
import { RunRecords } from './run-records.ts';
import { Staging } from './staging.ts';

/** The staging file of a mirror lies beside it. */
export function stagingPath(path: string): string {
  return `${path}.staging`;
}

/** A mirror in an SQLite file, held by this process alone from `open` to `close`. */
export class SqliteMirror implements Mirror {
  readonly #file: MirrorFile;
  readonly #lock: Staging;
  readonly #staging: Staging;
  readonly #records: RunRecords;
  /** Ends a wait for another program's lock; null in a dry run, which writes nothing. */
  readonly #signal: AbortSignal | null;
  readonly #isDry: boolean;
  readonly #observe: ChangeObserver | undefined;
  #run: CurrentRun | undefined;

  /**
   * Opens the mirror for a run, making the file where there is none.
   *
   * @throws MirrorBusyError where another run holds it.
   * @throws MirrorFileError where the file can't be used.
   */
  static open(path: string, signal: AbortSignal = new AbortController().signal): SqliteMirror {
    assertIsMirrorOrNew(path);
    const lock = openLock(path);
    try {
      return new SqliteMirror(openForWriting(path), lock, lock, signal, undefined);
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  /** Opens the mirror for a run that changes nothing and makes no file; `observe` is told of what it would change. */
  static openDry(path: string, observe: ChangeObserver): SqliteMirror {
    assertIsMirrorOrNew(path);
    if (!existsSync(path)) {
      const staging = Staging.openTemporary();
      return new SqliteMirror(openInMemory(), staging, staging, null, observe);
    }
    openForReading(path).close();
    const lock = openLock(path);
    try {
      return new SqliteMirror(openForWriting(path), lock, Staging.openTemporary(), null, observe);
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  private constructor(
    file: MirrorFile,
    lock: Staging,
    staging: Staging,
    signal: AbortSignal | null,
    observe: ChangeObserver | undefined,
  ) {
    this.#file = file;
    this.#lock = lock;
    this.#staging = staging;
    this.#records = new RunRecords(file);
    this.#signal = signal;
    this.#isDry = signal === null;
    this.#observe = observe;
  }

  async beginRun(start: RunStart): Promise<number | null> {
    const id = this.#isDry ? dryRunId : await this.#write(() => this.#records.begin(start));
    this.#run = {
      id,
      startedAt: start.startedAt,
      baseUrl: start.baseUrl,
      isDry: this.#isDry,
      prepare: () => this.#records.stage(id, start),
    };
    return this.#isDry ? null : id;
  }

  async openList(list: ListDefinition, startedAt: string): Promise<ListMirror> {
    const run = this.#current;
    if (!run.isDry) await this.#write(() => this.#records.beginList(run.id, list.resource, startedAt));
    return this.#explained(
      () =>
        new SqliteListMirror({
          list,
          file: this.#file,
          staging: this.#staging,
          records: this.#records,
          run,
          observe: this.#observe,
        }),
    );
  }

  async recordList(outcome: ListOutcome): Promise<void> {
    // A list that fails while it is written leaves its transaction open.
    this.#explained(() => rollBack(this.#file.sqlite));
    if (!this.#isDry) await this.#write(() => this.#records.endList(this.#current.id, outcome, null));
  }

  async endRun(status: RunStatus, completedAt: string, error: RunError | null): Promise<void> {
    if (!this.#isDry)
      await this.#write(() => this.#records.end(this.#current.id, status, completedAt, error));
  }

  /**
   * Folds the write-ahead log back, so that the one file is the whole mirror, and lets the next run in, whatever fails.
   *
   * @throws MirrorFileError where the log can't be folded back; what was committed stands in it.
   */
  close(): void {
    try {
      this.#explained(() => {
        rollBack(this.#file.sqlite);
        // A reader may hold on to the log; it is then folded back by whoever closes the file last.
        if (!this.#isDry) this.#file.sqlite.pragma('wal_checkpoint(TRUNCATE)');
      });
    } finally {
      this.#file.close();
      if (this.#staging !== this.#lock) this.#staging.close();
      this.#lock.close();
    }
  }

  /**
   * Writes a few rows in a transaction of their own, waiting for other programs' locks without holding up signals. After a
   * signal it is tried once: the next run sees that this one was interrupted.
   */
  async #write<T>(work: () => T): Promise<T> {
    const { sqlite, path } = this.#file;
    const signal = this.#signal as AbortSignal;
    try {
      if (!signal.aborted) await beginWriting(sqlite, signal);
      else if (!tryBeginWriting(sqlite)) signal.throwIfAborted();
      const result = work();
      sqlite.exec('COMMIT');
      return result;
    } catch (error) {
      rollBack(sqlite);
      throw explainSqliteError(error, path);
    }
  }

  get #current(): CurrentRun {
    if (this.#run === undefined) throw new Error('A run must begin before its lists are opened.');
    return this.#run;
  }

  #explained<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explainSqliteError(error, this.#file.path);
    }
  }
}

/** No recorded run has this id: SQLite counts from 1. */
const dryRunId = 0;

function openLock(path: string): Staging {
  try {
    return Staging.open(stagingPath(path));
  } catch (error) {
    throw error instanceof MirrorBusyError ? new MirrorBusyError(describeHolder(path)) : error;
  }
}

function describeHolder(path: string): string {
  const advice = 'Wait until it is done, or stop it.';
  try {
    const file = openForReading(path);
    try {
      const run = new RunRecords(file).running();
      if (run !== undefined) return `Run ${run.id} has held ${path} since ${run.startedAt}. ${advice}`;
    } finally {
      file.close();
    }
  } catch {
    // The other run may be making the file just now: it is held all the same.
  }
  return `Another run holds ${path}. ${advice}`;
}
