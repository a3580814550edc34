import { existsSync } from 'node:fs';
import type { ListDefinition } from '../contract/lists.ts';
import { MirrorBusyError } from '../errors.ts';
import type { ListMirror, ListOutcome, Mirror, RunError, RunStart, RunStatus } from '../sync/ports.ts';
import type { ChangeObserver } from './apply.ts';
import { SqliteListMirror } from './list-mirror.ts';
import { rollBack } from './list-transaction.ts';
import type { CurrentRun } from './list-writing.ts';
import {
  assertIsMirrorOrNew,
  type MirrorFile,
  openForReading,
  openForWriting,
  openInMemory,
} from './open.ts';
import { RunRecords } from './run-records.ts';
import { explainSqliteError } from './sqlite-errors.ts';
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
  readonly #isDry: boolean;
  readonly #observe: ChangeObserver | undefined;
  #run: CurrentRun | undefined;

  /**
   * Opens the mirror for a run, making the file where there is none.
   *
   * @throws MirrorBusyError where another run holds it.
   * @throws MirrorFileError where the file can't be used.
   */
  static open(path: string): SqliteMirror {
    assertIsMirrorOrNew(path);
    const lock = openLock(path);
    try {
      return new SqliteMirror(openForWriting(path), lock, lock, false, undefined);
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
      return new SqliteMirror(openInMemory(), staging, staging, true, observe);
    }
    openForReading(path).close();
    const lock = openLock(path);
    try {
      return new SqliteMirror(openForWriting(path), lock, Staging.openTemporary(), true, observe);
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  private constructor(
    file: MirrorFile,
    lock: Staging,
    staging: Staging,
    isDry: boolean,
    observe: ChangeObserver | undefined,
  ) {
    this.#file = file;
    this.#lock = lock;
    this.#staging = staging;
    this.#records = new RunRecords(file);
    this.#isDry = isDry;
    this.#observe = observe;
  }

  beginRun(start: RunStart): number | null {
    const id = this.#isDry ? dryRunId : this.#explained(() => this.#records.begin(start));
    this.#run = {
      id,
      startedAt: start.startedAt,
      baseUrl: start.baseUrl,
      isDry: this.#isDry,
      prepare: () => this.#records.stage(id, start),
    };
    return this.#isDry ? null : id;
  }

  openList(list: ListDefinition, startedAt: string): ListMirror {
    return this.#explained(() => {
      const run = this.#current;
      if (!run.isDry) this.#records.beginList(run.id, list.resource, startedAt);
      return new SqliteListMirror({
        list,
        file: this.#file,
        staging: this.#staging,
        records: this.#records,
        run,
        observe: this.#observe,
      });
    });
  }

  recordList(outcome: ListOutcome): void {
    // A list that fails while it is written leaves its transaction open.
    rollBack(this.#file.sqlite);
    if (!this.#isDry) this.#explained(() => this.#records.endList(this.#current.id, outcome, null));
  }

  endRun(status: RunStatus, completedAt: string, error: RunError | null): void {
    if (!this.#isDry) this.#explained(() => this.#records.end(this.#current.id, status, completedAt, error));
  }

  /** Folds the write-ahead log back, so that the one file is the whole mirror, and lets the next run in. */
  close(): void {
    rollBack(this.#file.sqlite);
    // A reader may hold on to the log; it is then folded back by whoever closes the file last.
    if (!this.#isDry) this.#file.sqlite.pragma('wal_checkpoint(TRUNCATE)');
    this.#file.close();
    if (this.#staging !== this.#lock) this.#staging.close();
    this.#lock.close();
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
