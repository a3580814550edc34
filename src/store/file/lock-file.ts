import { existsSync, lstatSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, MirrorBusyError, RefusedFileError } from '../../errors.ts';
import { makePrivateFile, shareOwner } from './atomic-file.ts';
import { applicationIds, type FileKind, kindOf } from './mirror-path.ts';
import { explaining } from './sqlite-errors.ts';

/** How long a run waits for a process that only checks whether the lock is held, in milliseconds. */
const lookMsMax = 300;

/**
 * The path of a mirror's lock: beside the mirror.
 *
 * @param file the mirror's file itself, no symbolic link to it.
 */
export function lockPath(file: string): string {
  return `${file}.lock`;
}

/**
 * A mirror's lock: a file beside it that is open under an exclusive lock of SQLite while a run works on the mirror. The system
 * drops that lock if the process dies. The file records how the last run left the mirror's file. It is never removed, because
 * another process might be waiting to lock it.
 */
export class MirrorLock {
  readonly #sqlite: Database.Database;

  /**
   * Takes the lock, and makes the file if there is none.
   *
   * @throws MirrorBusyError if another process has it.
   * @throws RefusedFileError if something else is at the path; it is left as it is.
   */
  static take(path: string): MirrorLock {
    return explaining(path, () => {
      assertLockOrNone(path);
      try {
        makePrivateFile(path);
        // Root can restore a mirror, and its usual owner must still be able to use the lock.
        shareOwner(path, path.replace(/\.lock$/, ''));
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      return new MirrorLock(new Database(path, { timeout: lookMsMax }));
    });
  }

  private constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    try {
      sqlite.pragma('locking_mode = EXCLUSIVE');
      // The locks of 0.3.0 have a log.
      sqlite.pragma('journal_mode = DELETE');
      sqlite.exec('BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS mirror_mark (mark TEXT NOT NULL) STRICT');
      if (sqlite.pragma('application_id', { simple: true }) !== applicationIds.lock)
        sqlite.pragma(`application_id = ${applicationIds.lock}`);
      sqlite.exec('COMMIT');
    } catch (error) {
      sqlite.close();
      if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
      throw new MirrorBusyError('Another run is using this mirror. Wait until it is done, or stop it.');
    }
  }

  /** How the mirror's file looked when a run left it, see `markOf`; null if this is not known. */
  mark(): string | null {
    return this.#sqlite.prepare<[], string>('SELECT mark FROM mirror_mark').pluck().get() ?? null;
  }

  /** Notes how a run leaves the mirror's file; null means that the next run must check the file. */
  setMark(mark: string | null): void {
    try {
      this.#sqlite.transaction(() => {
        this.#sqlite.exec('DELETE FROM mirror_mark');
        if (mark !== null) this.#sqlite.prepare('INSERT INTO mirror_mark (mark) VALUES (?)').run(mark);
      })();
    } catch (error) {
      // If the disk is full, the next run reads every row, and nothing else is lost.
      if (!(error instanceof Database.SqliteError)) throw error;
    }
  }

  /** Lets the next run in. */
  release(): void {
    this.#sqlite.close();
  }
}

/**
 * Takes a mirror's lock for work that is no run.
 *
 * @returns a function that gives it back.
 * @throws MirrorBusyError, RefusedFileError as `MirrorLock.take` does.
 */
export function holdLock(file: string): () => void {
  const lock = MirrorLock.take(lockPath(file));
  return () => lock.release();
}

/** True if a run is using the mirror. It changes nothing. */
export function isHeld(file: string): boolean {
  const path = lockPath(file);
  return existsSync(path) && kindOfLock(path) === 'held';
}

/**
 * Makes sure that what is at the path of a mirror's lock, if anything, is a lock; changes nothing.
 *
 * @throws RefusedFileError if it is something else.
 */
export function assertLockOrNone(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const isOwn = stat.isFile() && stat.nlink === 1 && ['empty', 'lock', 'held'].includes(kindOfLock(path));
  if (isOwn) return;
  throw new RefusedFileError(
    `${path} is not a file that docmirror made, but the mirror's lock needs this name. It was left as it is; move it away, or name another file for the mirror.`,
  );
}

/** The kind of a file; `held` if another process has it as a lock, so that it can't be read. */
function kindOfLock(path: string): FileKind | 'held' {
  try {
    return kindOf(path, lookMsMax);
  } catch (error) {
    if (codeOf(error)?.startsWith('SQLITE_BUSY') === true) return 'held';
    throw error;
  }
}
