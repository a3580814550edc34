import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { MirrorFileError, OtherShapeError } from '../../errors.ts';
import { orm } from '../tables/orm.ts';
import { makePrivateFile, privateFileMode } from './atomic-file.ts';
import { bringUpToDate, laterShape, olderShape, shapeOf } from './migrate.ts';
import {
  applicationIds,
  assertOneName,
  busyTimeoutMs,
  existingFile,
  type FileKind,
  kindOf,
  kindOfOpen,
  mirrorToWrite,
  refusal,
} from './mirror-path.ts';
import { explaining } from './sqlite-errors.ts';

/** An open mirror file. Bulk work goes through `sqlite`, everything else through `orm`; both are one connection. */
export interface MirrorFile extends Disposable {
  /** The path of the file itself, with symbolic links resolved. */
  readonly path: string;
  readonly sqlite: Database.Database;
  readonly orm: BetterSQLite3Database;
  close(): void;
}

/** The page cache of a connection to a mirror, in KiB: with SQLite's default of 2 MiB, work takes a third longer. */
export const cacheKib = 16 * 1024;

/** How long a reader waits for the lock of another program, in milliseconds. */
const readerTimeoutMs = busyTimeoutMs * 10;

type Check = (sqlite: Database.Database, path: string) => void;

/**
 * Opens a mirror or a share to read. It makes no file and changes none.
 *
 * @throws UsageError if no file can be at the path.
 * @throws RefusedFileError if the file is no mirror, or of another shape; it says what to do.
 * @throws MirrorFileError if there is no file, or it is damaged or can't be opened.
 */
export function openForReading(path: string): MirrorFile {
  return openToRead(path, ['mirror', 'share'], assertCurrent);
}

/** Opens a mirror to read as `openForReading` does; a share is refused. */
export function openMirrorForReading(path: string): MirrorFile {
  return openToRead(path, ['mirror'], assertCurrent);
}

/** Opens a mirror to read, whatever its shape; the caller decides which shapes are good enough. */
export function openOfAnyShape(path: string, check: Check): MirrorFile {
  return openToRead(path, ['mirror'], check);
}

function openToRead(path: string, kinds: readonly FileKind[], check: Check): MirrorFile {
  const file = existingFile(path);
  return explaining(file, () => {
    // SQLite itself opens the file read-only if this user can't write it.
    const sqlite = connectTo(file, { fileMustExist: true, timeout: readerTimeoutMs });
    return closedIfItFails(sqlite, () => {
      const kind = kindOfOpen(sqlite);
      if (kind === 'empty') throw new MirrorFileError(`${path} is empty. Fill it with "docmirror sync".`);
      if (!kinds.includes(kind)) throw refusal(path, kind);
      // A backup is written without a log, so it can have several names.
      if (sqlite.pragma('journal_mode', { simple: true }) === 'wal') assertOneName(file);
      check(sqlite, path);
      sqlite.pragma(`cache_size = -${cacheKib}`);
      return mirrorFile(file, sqlite);
    });
  });
}

function assertCurrent(sqlite: Database.Database, path: string): void {
  const shape = shapeOf(sqlite);
  if (shape === 'later') throw laterShape(path);
  if (shape !== 'older') return;
  if (kindOfOpen(sqlite) === 'share')
    throw new OtherShapeError(
      path,
      'is a share that an older docmirror made. Make it again with "docmirror share".',
    );
  throw olderShape(path, sqlite);
}

/**
 * Opens a mirror to write. It creates a missing file, and brings an older mirror up to date. The caller must have the mirror's
 * lock.
 *
 * @throws UsageError if no file can be at the path.
 * @throws RefusedFileError if the file is no mirror, or a newer docmirror made it; it is left as it is.
 * @throws MirrorFileError if it is damaged, or can't be written.
 */
export function openForWriting(path: string): MirrorFile {
  const file = mirrorToWrite(path);
  return explaining(file, () => {
    const kind = kindOf(file);
    if (kind === 'none') makePrivateFile(file);
    // Another program can have made the empty file with another mode.
    if (kind === 'empty') chmodSync(file, privateFileMode);
    return openToWrite(file, sqlite => bringUpToDate(sqlite, file));
  });
}

/**
 * Opens a mirror of the current shape for writes that will be rolled back.
 *
 * @throws UsageError, RefusedFileError, MirrorFileError as `openForWriting` does.
 */
export function openForDryRun(path: string): MirrorFile {
  const file = mirrorToWrite(path);
  return explaining(file, () => openToWrite(file, () => undefined));
}

/** A mirror in memory that ends with its connection, for a run that must leave no file. */
export function openInMemory(): MirrorFile {
  const sqlite = connectTo(':memory:');
  bringUpToDate(sqlite, ':memory:');
  return mirrorFile(':memory:', sqlite);
}

function openToWrite(file: string, prepare: (sqlite: Database.Database) => void): MirrorFile {
  const sqlite = connectTo(file, { timeout: busyTimeoutMs });
  return closedIfItFails(sqlite, () => {
    const shape = shapeOf(sqlite);
    if (shape === 'later') throw laterShape(file);
    if (shape === 'empty') {
      // Only a file without tables takes this setting: pruning can then give free pages back to the disk.
      sqlite.pragma('auto_vacuum = INCREMENTAL');
      // This comes before the log exists, so the id is in the file itself even if this process is killed.
      sqlite.pragma(`application_id = ${applicationIds.mirror}`);
    }
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = FULL');
    sqlite.pragma(`cache_size = -${cacheKib}`);
    prepare(sqlite);
    return mirrorFile(file, sqlite);
  });
}

/**
 * Connects to a mirror without SQLite's foreign keys. One in a user's own table would stop a run that removes a record, or remove
 * the user's row. A run removes the rows of a record by itself, and checks docmirror's references before it commits a list.
 */
function connectTo(path: string, options: Database.Options = {}): Database.Database {
  const sqlite = new Database(path, options);
  sqlite.pragma('foreign_keys = OFF');
  return sqlite;
}

function closedIfItFails(sqlite: Database.Database, work: () => MirrorFile): MirrorFile {
  try {
    return work();
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

function mirrorFile(path: string, sqlite: Database.Database): MirrorFile {
  const close = () => {
    sqlite.close();
  };
  return { path, sqlite, orm: orm(sqlite), close, [Symbol.dispose]: close };
}
