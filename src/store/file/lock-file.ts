import { existsSync, lstatSync, rmSync, truncateSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, MirrorBusyError, RefusedFileError } from '../../errors.ts';
import { FilePlace } from './file-identity.ts';
import { applicationIds, kindOf } from './file-kind.ts';
import { makePrivateFile, shareOwner } from './private-file.ts';
import { explaining } from './sqlite-errors.ts';

// All by hand: another file than the mirror, with a table of its own.

/** The shape of the file; one of another shape is begun again. */
const layout = {
  version: 15,
  sql: `
  DROP TABLE IF EXISTS mirror_mark;
  CREATE TABLE mirror_mark (mark TEXT NOT NULL) STRICT;
`,
};

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
  readonly #place: FilePlace;

  /**
   * Takes the lock, and makes the file if there is none.
   *
   * @throws MirrorBusyError if another process has it.
   * @throws RefusedFileError if something else is at the path; it is left as it is.
   */
  static take(path: string): MirrorLock {
    return explaining(path, () => {
      prepareLock(path);
      try {
        return new MirrorLock(openLocked(path));
      } catch (error) {
        if (codeOf(error) !== 'SQLITE_CORRUPT') throw error;
        // Then the next run reads every row, and nothing else is lost. It is done in place, because the lock is the file.
        rmSync(`${path}-wal`, { force: true });
        truncateSync(path);
        return new MirrorLock(openLocked(path));
      }
    });
  }

  private constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#place = new FilePlace(sqlite.name);
  }

  /**
   * Makes sure that the lock is still at the place that other runs look at.
   *
   * @throws MirrorFileError if the file was moved away or removed: another run might then work on the mirror.
   */
  assertInPlace(): void {
    this.#place.assertKept({ is: 'the lock', danger: 'another run could write to the mirror now' });
  }

  /** How the mirror's file looked when a run left it, see `markOf`; null if this is not known. */
  mark(): string | null {
    return this.#sqlite.prepare<[], string>('SELECT mark FROM mirror_mark').pluck().get() ?? null;
  }

  /** Notes how a run leaves the mirror's file; null means that the next run must check the file. */
  setMark(mark: string | null): void {
    try {
      this.#sqlite.exec('BEGIN; DELETE FROM mirror_mark');
      if (mark !== null) this.#sqlite.prepare('INSERT INTO mirror_mark (mark) VALUES (?)').run(mark);
      this.#sqlite.exec('COMMIT');
    } catch (error) {
      // If the disk is full, the next run reads every row, and nothing else is lost.
      if (!(error instanceof Database.SqliteError)) throw error;
      if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK');
    }
  }

  /** Lets the next run in. */
  release(): void {
    this.#sqlite.close();
  }
}

/**
 * Takes a mirror's lock without reading the mark in it.
 *
 * @returns a function that gives it back.
 * @throws MirrorBusyError, RefusedFileError as `MirrorLock.take` does.
 */
export function holdLock(file: string): () => void {
  const path = lockPath(file);
  return explaining(path, () => {
    prepareLock(path);
    const sqlite = connectLocked(path);
    return () => sqlite.close();
  });
}

/** True if a run is using the mirror. It changes nothing. */
export function isHeld(file: string): boolean {
  const path = lockPath(file);
  const kind = existsSync(path) ? kindOfLock(path) : 'none';
  if (kind !== 'lock') return kind === 'held';
  const sqlite = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    sqlite.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
  } finally {
    sqlite.close();
  }
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
function kindOfLock(path: string): ReturnType<typeof kindOf> | 'held' {
  try {
    return kindOf(path, lookMsMax);
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code.startsWith('SQLITE_BUSY')) return 'held';
    // A power cut can damage it; it is emptied when it is opened.
    if (code === 'SQLITE_CORRUPT') return 'lock';
    throw error;
  }
}

function prepareLock(path: string): void {
  assertLockOrNone(path);
  if (existsSync(path)) return;
  try {
    makePrivateFile(path);
    shareOwner(path, path.replace(/\.lock$/, ''));
  } catch (error) {
    // Another run made it just now.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function openLocked(path: string): Database.Database {
  const { version, sql } = layout;
  const sqlite = connectLocked(path);
  try {
    if (sqlite.pragma('user_version', { simple: true }) !== version) {
      sqlite.exec(`BEGIN; ${sql}; PRAGMA user_version = ${version}; COMMIT`);
    }
    if (sqlite.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw new Database.SqliteError('the lock is damaged', 'SQLITE_CORRUPT');
    }
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** How long a run waits for a process that only checks whether the lock is held, in milliseconds. */
const lookMsMax = 300;

function connectLocked(path: string): Database.Database {
  const sqlite = new Database(path, { timeout: lookMsMax });
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE');
    sqlite.exec('BEGIN EXCLUSIVE');
    // This comes before the log exists, so the id is in the file itself even if this process is killed.
    const id = sqlite.pragma('application_id', { simple: true });
    if (id !== applicationIds.lock) sqlite.pragma(`application_id = ${applicationIds.lock}`);
    sqlite.exec('COMMIT');
    sqlite.pragma('journal_mode = WAL');
    // A crash of the machine can damage the file, which is found out when it is opened.
    sqlite.pragma('synchronous = OFF');
    sqlite.exec('BEGIN EXCLUSIVE; COMMIT');
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw codeOf(error)?.startsWith('SQLITE_BUSY')
      ? new MirrorBusyError('Another run is using this mirror. Wait until it is done, or stop it.')
      : error;
  }
}
