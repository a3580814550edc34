import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { noteConnection } from './connections.ts';
import { privateFileMode } from './private-file.ts';

/** What a connection to a mirror keeps in memory of it: with SQLite's own 2 MiB, work takes a third longer. */
export const cacheKib = 16 * 1024;

interface ReadConnection {
  readonly sqlite: Database.Database;
  close(): void;
}

/**
 * Connects to a file to read it, wherever it lies. A file that is written through a log can be read only where the log can be
 * made beside it; in a place that can't be written, a private copy is read instead, which no one else sees.
 *
 * @param path a file that is known to be docmirror's.
 * @param timeoutMs how long a statement waits for another program's lock.
 */
export function connectToRead(path: string, usesLog: boolean, timeoutMs: number): ReadConnection {
  if (canWrite(path) && canWrite(dirname(resolve(path)))) {
    // Not opened as read-only: the last such connection would leave an empty log beside the file. Where a run that was killed left
    // one that is not empty, the next run folds it back, not one that only reads.
    const readonly = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
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

/** Connects to a private copy of a database and of its log. */
export function openCopy(path: string): ReadConnection {
  const folder = mkdtempSync(join(tmpdir(), 'docmirror-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'copy.sqlite');
    for (const beside of ['', '-wal']) {
      if (!existsSync(`${path}${beside}`)) continue;
      copyFileSync(`${path}${beside}`, `${copy}${beside}`, constants.COPYFILE_FICLONE);
      chmodSync(`${copy}${beside}`, privateFileMode);
    }
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

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
