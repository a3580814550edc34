import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { MirrorFileError, OtherShapeError } from '../../errors.ts';
import { packageFolder, version } from '../../version.ts';
import { orm } from '../tables/orm.ts';
import {
  assertOneName,
  busyTimeoutMs,
  existingFile,
  type FileKind,
  firstShape,
  kindOfOpen,
  refusal,
} from './mirror-path.ts';
import { explaining } from './sqlite-errors.ts';

/** Where Drizzle's migrations are. */
export const migrationsFolder = join(packageFolder, 'migrations');

/** When each migration was generated, in milliseconds since 1970, the oldest first. */
export const migrations = (
  JSON.parse(readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8')) as {
    readonly entries: readonly { readonly when: number }[];
  }
).entries.map(({ when }) => when);

/** The shape that this docmirror writes, as `user_version`: the number of all migrations so far, of which 0.2 had five. */
export const currentShape = firstShape - 1 + migrations.length;

/** How the shape of a mirror's tables compares with the current one. */
export type Shape = 'empty' | 'older' | 'current' | 'later';

/** Finds the shape of a mirror; the connection can be in a transaction. */
export function shapeOf(sqlite: Database.Database): Shape {
  if (sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table'").get() === undefined) return 'empty';
  const shape = Number(sqlite.pragma('user_version', { simple: true }));
  if (shape === currentShape) return 'current';
  return shape > currentShape ? 'later' : 'older';
}

/** The version of docmirror that upgraded a mirror last, or else of its first run. */
export function versionOf(sqlite: Database.Database): string {
  const known = `SELECT coalesce((SELECT version FROM docmirror_upgrades ORDER BY rowid DESC LIMIT 1),
    (SELECT docmirror_version FROM sync_runs ORDER BY id LIMIT 1), 'an older version')`;
  return sqlite.prepare<[], string>(known).pluck().get() as string;
}

/** The error for a mirror that a later docmirror wrote. */
export function laterShape(path: string): OtherShapeError {
  return new OtherShapeError(path, 'was made by a newer docmirror. Update docmirror to use it.');
}

/** The error for a mirror of an older shape, which a command that only reads leaves as it is. */
export function olderShape(path: string, sqlite: Database.Database): OtherShapeError {
  const what = `was made by docmirror ${versionOf(sqlite)}. Run "docmirror sync" with version ${version}, which copies the file and brings it up to date.`;
  return new OtherShapeError(path, what, { code: 'upgrade_needed' });
}

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
 * Connects to a mirror without SQLite's foreign keys. One in a user's own table would stop a run that removes a record, or remove
 * the user's row. A run removes the rows of a record by itself, and checks docmirror's references before it commits a list.
 */
export function connectTo(path: string, options: Database.Options = {}): Database.Database {
  const sqlite = new Database(path, options);
  sqlite.pragma('foreign_keys = OFF');
  return sqlite;
}

/** What some work makes of a connection, which is closed if the work fails. */
export function closedIfItFails(sqlite: Database.Database, work: () => MirrorFile): MirrorFile {
  try {
    return work();
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** An open file over a connection. */
export function mirrorFile(path: string, sqlite: Database.Database): MirrorFile {
  const close = () => {
    sqlite.close();
  };
  return { path, sqlite, orm: orm(sqlite), close, [Symbol.dispose]: close };
}
