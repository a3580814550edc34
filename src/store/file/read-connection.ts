import { chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';
import { denial } from './access.ts';
import { noteConnection } from './connections.ts';
import { hasLog, markOf } from './file-mark.ts';
import { privateFileMode } from './private-file.ts';

/** What a connection to a mirror keeps in memory of it: with SQLite's own 2 MiB, work takes a third longer. */
export const cacheKib = 16 * 1024;

/** Copies that are begun before a mirror counts as one that is written all the time. */
const copyTriesMax = 5;

interface ReadConnection {
  readonly sqlite: Database.Database;
  close(): void;
}

/**
 * Connects to a file to read it, wherever it lies. A file that is written through a log can be read only where the log can be
 * made beside it; who may not write both the file and its folder reads a private copy instead, which no one else sees: what they
 * made there, those that run the mirror could not open.
 *
 * @param path a file that is known to be docmirror's.
 * @param timeoutMs how long a statement waits for another program's lock.
 * @param isBeingRun tells whether a run is writing to it now.
 * @throws MirrorFileError where it can't be read safely now; it says what to do.
 */
export function connectToRead(
  path: string,
  usesLog: boolean,
  timeoutMs: number,
  isBeingRun: () => boolean = () => false,
): ReadConnection {
  if (canWrite(path) && canWrite(dirname(resolve(path)))) {
    // Not opened as read-only: the last such connection would leave a log beside the file. Where a run that was killed left one that is
    // not empty, the next run folds it back, not one that only reads; where a run goes on, whoever is done last.
    const readonly = hasLog(path) && !isBeingRun();
    return opened(path, usesLog, new Database(path, { readonly, fileMustExist: true, timeout: timeoutMs }));
  }
  const isBeingWritten = existsSync(`${path}-shm`);
  if (isBeingWritten || !usesLog) {
    const sqlite = new Database(path, { readonly: true, fileMustExist: true, timeout: timeoutMs });
    return opened(path, usesLog, sqlite);
  }
  return openCopy(path);
}

function opened(path: string, usesLog: boolean, sqlite: Database.Database): ReadConnection {
  noteConnection(path, sqlite, { kind: 'mirror', usesLog });
  return { sqlite, close: () => sqlite.close() };
}

/** Takes the right to write, which another program may have, and gives it back: nothing is written. */
export function tryToWrite(sqlite: Database.Database): void {
  if (!sqlite.readonly) sqlite.exec('BEGIN IMMEDIATE; ROLLBACK');
}

/**
 * Connects to a private copy of a database and of its log.
 *
 * @param copyFile copies one file to where there is none.
 * @throws MirrorFileError where somebody writes to it all the time, or there is no place for a copy.
 */
export function openCopy(path: string, copyFile = cloneFile): ReadConnection {
  const folder = makeTemporaryFolder(path);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'copy.sqlite');
    copyOneState(path, copy, copyFile);
    const sqlite = new Database(copy, { fileMustExist: true });
    // Takes over what stands in the log, and does without one from here on.
    sqlite.pragma('journal_mode = DELETE');
    sqlite.prepare('SELECT count(*) FROM sqlite_schema').get();
    // Where the system lets open files be removed, nothing is left behind even if this process is killed.
    removeNow(remove);
    return {
      sqlite,
      close: () => {
        sqlite.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function removeNow(remove: () => void): void {
  try {
    remove();
  } catch {
    // Elsewhere it is removed when it is closed.
  }
}

/** Copies file and log as they were at one moment: anew, where somebody wrote to them meanwhile. */
function copyOneState(path: string, copy: string, copyFile: typeof cloneFile): void {
  for (let tries = 0; tries < copyTriesMax; tries++) {
    const before = markOf(path);
    for (const beside of ['', '-wal']) {
      rmSync(`${copy}${beside}`, { force: true });
      // A log of no length says as little as none.
      if ((statSync(`${path}${beside}`, { throwIfNoEntry: false })?.size ?? 0) === 0) continue;
      copyFile(`${path}${beside}`, `${copy}${beside}`);
      chmodSync(`${copy}${beside}`, privateFileMode);
    }
    if (markOf(path) === before) return;
  }
  throw new MirrorFileError(`${path} was written to while it was read. Try again in a moment.`);
}

function cloneFile(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
}

/** A folder for this user alone; the place that the environment names may be another user's. */
function makeTemporaryFolder(path: string): string {
  for (const place of [tmpdir(), '/tmp', '/var/tmp']) {
    if (canWrite(place)) return mkdtempSync(join(place, 'docmirror-'));
  }
  throw new MirrorFileError(
    `${path} lies where this user can't write, so a private copy of it is read, and ${tmpdir()} can't be written, either. Name a folder that can be by TMPDIR.`,
  );
}

function canWrite(path: string): boolean {
  return denial(path, constants.W_OK) === null;
}
