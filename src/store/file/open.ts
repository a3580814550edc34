import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { MirrorFileError, OtherShapeError } from '../../errors.ts';
import * as schema from '../tables/schema.ts';
import { busyTimeoutMs, kindOfOpen } from './file-kind.ts';
import { laterShape, olderShape, shapeOf } from './migrate.ts';
import { assertOneName, existingFile, refusal } from './mirror-path.ts';
import { explaining } from './sqlite-errors.ts';

/** An open mirror file. Bulk work goes through `sqlite`, everything else through `orm`; both are one connection. */
export interface MirrorFile extends Disposable {
  /** The path of the file itself, with symbolic links resolved. */
  readonly path: string;
  readonly sqlite: Database.Database;
  readonly orm: BetterSQLite3Database<typeof schema>;
  close(): void;
}

/** The page cache of a connection to a mirror, in KiB: with SQLite's default of 2 MiB, work takes a third longer. */
export const cacheKib = 16 * 1024;

/** How long a reader waits for the lock of another program, in milliseconds. */
const readerTimeoutMs = busyTimeoutMs * 10;

/** Which files a reader accepts besides a mirror. */
interface ReadOptions {
  /** True for a command that also works on a share. */
  readonly isShareEnough: boolean;
}

/**
 * Opens a mirror or a share to read. It makes no file and changes none.
 *
 * @throws UsageError if no file can be at the path.
 * @throws RefusedFileError if the file is no mirror, or of another shape; it says what to do.
 * @throws MirrorFileError if there is no file, or it is damaged or can't be opened.
 */
export function openForReading(path: string): MirrorFile {
  return open(path, { isShareEnough: true }, assertCurrent);
}

/** Opens a mirror to read as `openForReading` does; a share is refused. */
export function openMirrorForReading(path: string): MirrorFile {
  return open(path, { isShareEnough: false }, assertCurrent);
}

/** Opens a mirror to read, whatever its shape; the caller decides which shapes are good enough. */
export function openOfAnyShape(path: string, check: (sqlite: Database.Database) => void): MirrorFile {
  return open(path, { isShareEnough: false }, check);
}

function open(
  path: string,
  { isShareEnough }: ReadOptions,
  check: (sqlite: Database.Database, path: string) => void,
): MirrorFile {
  const file = existingFile(path);
  return explaining(file, () => {
    // SQLite itself opens the file read-only if this user can't write it.
    const sqlite = connectTo(file, { fileMustExist: true, timeout: readerTimeoutMs });
    try {
      const kind = kindOfOpen(sqlite);
      if (kind === 'empty') throw new MirrorFileError(`${path} is empty. Fill it with "docmirror sync".`);
      if (kind !== 'mirror' && !(kind === 'share' && isShareEnough)) throw refusal(path, kind);
      // A backup is written without a log, so it can have several names.
      if (sqlite.pragma('journal_mode', { simple: true }) === 'wal') assertOneName(file, statSync(file));
      check(sqlite, path);
      sqlite.pragma(`cache_size = -${cacheKib}`);
      return mirrorFile(file, sqlite);
    } catch (error) {
      sqlite.close();
      throw error;
    }
  });
}

/**
 * Connects to a mirror without SQLite's foreign keys. One in a user's own table would stop a run that removes a record, or remove
 * the user's row. A run removes the rows of a record by itself, and checks docmirror's references before it commits a list.
 */
export function connectTo(path: string, options: Database.Options = {}): Database.Database {
  const sqlite = new Database(path, options);
  sqlite.pragma('foreign_keys = OFF');
  return sqlite;
}

function assertCurrent(sqlite: Database.Database, path: string): void {
  const shape = shapeOf(sqlite);
  if (shape === 'later') throw laterShape(path);
  if (shape === 'older') {
    if (kindOfOpen(sqlite) === 'share')
      throw new OtherShapeError(
        path,
        'is a share that an older docmirror made. Make it again with "docmirror share".',
      );
    throw olderShape(path, sqlite);
  }
}

/** Wraps a connection to a mirror. */
export function mirrorFile(path: string, sqlite: Database.Database): MirrorFile {
  const close = () => {
    sqlite.close();
  };
  return { path, sqlite, orm: drizzle(sqlite, { schema }), close, [Symbol.dispose]: close };
}
