import { existsSync, lstatSync, rmSync, truncateSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, MirrorBusyError, RefusedFileError } from '../../errors.ts';
import { assertNoForeignJournal, assertOwnBeside, hasJournal } from './beside.ts';
import { noteConnection } from './connections.ts';
import { applicationIds, findOut } from './file-kind.ts';
import { assertLogOfStaging } from './own-log.ts';
import { makePrivateFile, shareOwner } from './private-file.ts';
import { connectToRead, tryToWrite } from './read-connection.ts';
import { explaining } from './sqlite-errors.ts';

/** The tables of a staging file. */
export interface StagingLayout {
  /** What stands in its `user_version`; a file of another version is begun anew. */
  readonly version: number;
  /** Makes the tables, in place of those of other versions. */
  readonly sql: string;
}

/**
 * Where the staging file of a mirror lies: beside it.
 *
 * @param file the mirror's file itself, no symbolic link to it.
 */
export function stagingPath(file: string): string {
  return `${file}.staging`;
}

/**
 * Opens a staging file, or makes it, and holds it under an exclusive lock for as long as it is open: that lock is the rule
 * that one run works on a mirror at a time, and the system drops it when the process dies. The file itself is never removed,
 * for another process may be waiting at it.
 *
 * @throws MirrorBusyError where another process has it open.
 * @throws RefusedFileError where something else lies there; it is left untouched.
 */
export function openStagingFile(path: string, layout: StagingLayout): Database.Database {
  return explaining(path, () => {
    assertStagingOrNone(path);
    makeUnlessThere(path);
    try {
      return openLocked(path, layout);
    } catch (error) {
      if (!/^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error) ?? '')) throw error;
      // Staged pages can always be asked for again, so a damaged file is emptied; in place, for the lock is the file.
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
    assertStagingOrNone(path);
    makeUnlessThere(path);
    const sqlite = connectLocked(path);
    return () => sqlite.close();
  });
}

/** True where a run holds the mirror; makes and changes nothing. */
export function isHeld(file: string): boolean {
  const path = stagingPath(file);
  // No run that holds it has a journal beside it: a look would undo with it what the file holds.
  if (!existsSync(path) || findOut(path).kind !== 'staging' || hasJournal(path)) return false;
  const { sqlite, close } = connectToRead(path, true, 0);
  try {
    sqlite.prepare('SELECT 1 FROM sqlite_schema').get();
    tryToWrite(sqlite);
    return false;
  } catch (error) {
    return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
  } finally {
    close();
  }
}

/**
 * Makes sure that what lies in the place of a mirror's lock, if anything, is one; changes nothing.
 *
 * @throws RefusedFileError where something else lies there.
 */
export function assertStagingOrNone(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  assertOwnBeside(path);
  if (stat === undefined) return;
  const isOwn = stat.isFile() && stat.nlink === 1 && ['empty', 'staging'].includes(findOut(path).kind);
  if (isOwn) {
    assertNoForeignJournal(path);
    assertLogOfStaging(path);
    return;
  }
  throw new RefusedFileError(
    `${path} is not a file that docmirror made, and it lies where the mirror's lock has to be. It was left as it is; move it away, or name another file for the mirror.`,
  );
}

function makeUnlessThere(path: string): void {
  try {
    if (existsSync(path)) return;
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

/** How long a run waits for who only looks whether the lock is held, which takes the lock for a moment; in milliseconds. */
const lookMsMax = 300;

function connectLocked(path: string): Database.Database {
  const sqlite = new Database(path, { timeout: lookMsMax });
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE');
    // A new file's only: an answer of 300 KB takes half the time in pages of this size. Each table takes one, also where it is empty.
    sqlite.pragma('page_size = 16384');
    sqlite.exec('BEGIN EXCLUSIVE');
    // Before there is a log: the id then stands in the file itself, whenever this process is killed.
    const id = sqlite.pragma('application_id', { simple: true });
    if (id !== applicationIds.staging) sqlite.pragma(`application_id = ${applicationIds.staging}`);
    sqlite.exec('COMMIT');
    sqlite.pragma('journal_mode = WAL');
    // It may be damaged when the machine dies, which is found out here: the walk is then begun anew.
    sqlite.pragma('synchronous = OFF');
    // Pages are written once and read once: a cache would only hold memory.
    sqlite.pragma('cache_size = -2048');
    sqlite.exec('BEGIN EXCLUSIVE; COMMIT');
    noteConnection(path, sqlite, { kind: 'staging', usesLog: true });
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw codeOf(error)?.startsWith('SQLITE_BUSY')
      ? new MirrorBusyError('Another run holds this mirror. Wait until it is done, or stop it.')
      : error;
  }
}
