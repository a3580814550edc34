import { existsSync, lstatSync, rmSync, truncateSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, MirrorBusyError, RefusedFileError } from '../../errors.ts';
import { applicationIds, kindOf } from './file-kind.ts';
import { makePrivateFile, shareOwner } from './private-file.ts';
import { explaining } from './sqlite-errors.ts';

/** The tables of a staging file. */
export interface StagingLayout {
  /** What its `user_version` is; a file of another version is begun again. */
  readonly version: number;
  /** Makes the tables, in place of those of other versions. */
  readonly sql: string;
}

/**
 * The path of a mirror's staging file: beside the mirror.
 *
 * @param file the mirror's file itself, no symbolic link to it.
 */
export function stagingPath(file: string): string {
  return `${file}.staging`;
}

/**
 * Opens a staging file, or makes it, and holds it under an exclusive lock for as long as it is open: that lock is the rule
 * that one run works on a mirror at a time, and the system drops it when the process dies. The file itself is never removed,
 * because another process may be waiting for it.
 *
 * @throws MirrorBusyError if another process has it open.
 * @throws RefusedFileError if something else is at the path; it is left as it is.
 */
export function openStagingFile(path: string, layout: StagingLayout): Database.Database {
  return explaining(path, () => {
    prepareLock(path);
    try {
      return openLocked(path, layout);
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_CORRUPT') throw error;
      // Staged pages can be asked for again, so a damaged file is emptied; in place, because the lock is the file.
      rmSync(`${path}-wal`, { force: true });
      truncateSync(path);
      return openLocked(path, layout);
    }
  });
}

/**
 * Holds a mirror's lock, without a look at what is staged.
 *
 * @returns a function that gives it back.
 * @throws MirrorBusyError, RefusedFileError as `openStagingFile` does.
 */
export function holdLock(file: string): () => void {
  const path = stagingPath(file);
  return explaining(path, () => {
    prepareLock(path);
    const sqlite = connectLocked(path);
    return () => sqlite.close();
  });
}

/** True if a run holds the mirror; makes and changes nothing. */
export function isHeld(file: string): boolean {
  const path = stagingPath(file);
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
    `${path} is not a file that docmirror made, and the mirror's lock has to be there. It was left as it is; move it away, or name another file for the mirror.`,
  );
}

/** The kind of a file; `held` if another process holds it as a lock, so that it can't be read. */
function kindOfLock(path: string): ReturnType<typeof kindOf> | 'held' {
  try {
    return kindOf(path, lookMsMax);
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code.startsWith('SQLITE_BUSY')) return 'held';
    // A power cut can damage a staging file; it is emptied when it is opened.
    if (code === 'SQLITE_CORRUPT') return 'lock';
    throw error;
  }
}

function prepareLock(path: string): void {
  assertLockOrNone(path);
  if (existsSync(path)) return;
  try {
    makePrivateFile(path);
    shareOwner(path, path.replace(/\.staging$/, ''));
  } catch (error) {
    // Another run made it just now.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function openLocked(path: string, { version, sql }: StagingLayout): Database.Database {
  const sqlite = connectLocked(path);
  try {
    if (sqlite.pragma('user_version', { simple: true }) !== version) {
      sqlite.exec(`BEGIN; ${sql}; PRAGMA user_version = ${version}; COMMIT`);
    }
    if (sqlite.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw new Database.SqliteError('the staging file is damaged', 'SQLITE_CORRUPT');
    }
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** How long a run waits for a process that only looks whether the lock is held, in milliseconds. */
const lookMsMax = 300;

function connectLocked(path: string): Database.Database {
  const sqlite = new Database(path, { timeout: lookMsMax });
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE');
    // Of a new file only: an answer of 300 KB takes half the time in pages of this size.
    sqlite.pragma('page_size = 16384');
    sqlite.exec('BEGIN EXCLUSIVE');
    // Before there is a log: the id is then in the file itself, whenever this process is killed.
    const id = sqlite.pragma('application_id', { simple: true });
    if (id !== applicationIds.lock) sqlite.pragma(`application_id = ${applicationIds.lock}`);
    sqlite.exec('COMMIT');
    sqlite.pragma('journal_mode = WAL');
    // It can be damaged if the machine dies. That is found out here, and the walk begins again.
    sqlite.pragma('synchronous = OFF');
    // Pages are written once and read once: a cache would only take memory.
    sqlite.pragma('cache_size = -2048');
    sqlite.exec('BEGIN EXCLUSIVE; COMMIT');
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw codeOf(error)?.startsWith('SQLITE_BUSY')
      ? new MirrorBusyError('Another run holds this mirror. Wait until it is done, or stop it.')
      : error;
  }
}
