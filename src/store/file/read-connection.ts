import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';

export interface ReadConnection {
  readonly sqlite: Database.Database;
  close(): void;
}

/** Where SQLite's file header says whether the file is written through a log beside it, and what it says then. */
const journalBytesAt = 18;
const journalByteOfLog = 2;
const journalBytesWithoutLog = Buffer.from([1, 1]);

/**
 * Connects to a file to read it, wherever it lies. A file that is written through a log can be read only where the log can be
 * made beside it; in a place that can't be written, a private copy is read instead, which no one else sees.
 */
export function connectToRead(path: string, timeout: number): ReadConnection {
  if (canWrite(path) && canWrite(dirname(resolve(path)))) {
    // Not opened as read-only: the last such connection would leave an empty log beside the file.
    return opened(new Database(path, { fileMustExist: true, timeout }));
  }
  const isBeingWritten = existsSync(`${path}-shm`);
  if (isBeingWritten || !usesLog(path)) {
    return opened(new Database(path, { readonly: true, fileMustExist: true, timeout }));
  }
  return openCopy(path);
}

function opened(sqlite: Database.Database): ReadConnection {
  return { sqlite, close: () => sqlite.close() };
}

function openCopy(path: string): ReadConnection {
  const folder = mkdtempSync(join(tmpdir(), 'docmirror-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'copy.sqlite');
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    chmodSync(copy, 0o600);
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
    else setWithoutLog(copy);
    const sqlite = new Database(copy, { fileMustExist: true });
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

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function usesLog(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, journalBytesAt);
    return byte[0] === journalByteOfLog;
  } finally {
    closeSync(file);
  }
}

function setWithoutLog(path: string): void {
  const file = openSync(path, 'r+');
  try {
    writeSync(file, journalBytesWithoutLog, 0, journalBytesWithoutLog.length, journalBytesAt);
  } finally {
    closeSync(file);
  }
}
