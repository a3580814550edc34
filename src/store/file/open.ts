import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { MirrorFileError, OtherShapeError } from '../../errors.ts';
import { packageFolder, version } from '../../version.ts';
import {
  assertOneName,
  busyTimeoutMs,
  type FileKind,
  fileBehind,
  firstShape,
  kindOfOpen,
  refusal,
} from './mirror-path.ts';
import { explaining } from './sqlite-errors.ts';

/** An open mirror or share. */
export interface MirrorFile extends Disposable {
  /** The path of the file itself, with symbolic links resolved. */
  readonly path: string;
  readonly sqlite: Database.Database;
  /** For cold queries, over the same connection. */
  readonly orm: BetterSQLite3Database;
  close(): void;
}

/** The page cache of a connection to a mirror, in KiB: with SQLite's default of 2 MiB, work takes a third longer. */
export const cacheKib = 16 * 1024;

/**
 * Opens a mirror or a share to read. It makes no file and changes none.
 *
 * @throws UsageError, RefusedFileError if no file can be at the path, or it is no mirror, or of another shape; it says what to do.
 * @throws MirrorFileError if there is no file, or it is damaged or can't be opened.
 */
export function openForReading(path: string): MirrorFile {
  return openOfAnyShape(path, ['mirror', 'share'], assertCurrent);
}

/** Opens a mirror to read as `openForReading` does; a share is refused. */
export function openMirrorForReading(path: string): MirrorFile {
  return openOfAnyShape(path, ['mirror'], assertCurrent);
}

/** Opens a mirror, or another kind of file, to read as `openForReading` does, whatever its shape, if `check` does not refuse it. */
export function openOfAnyShape(
  path: string,
  kinds: readonly FileKind[] = ['mirror'],
  check: typeof assertCurrent = () => undefined,
): MirrorFile {
  const file = fileBehind(path);
  if (!existsSync(file))
    throw new MirrorFileError(
      `There is no mirror at ${path} yet. Make it with "docmirror sync", or name it with --database.`,
    );
  return explaining(file, () =>
    // SQLite itself opens the file read-only if this user can't write it.
    connect(file, { fileMustExist: true, timeout: busyTimeoutMs * 10 }, sqlite => {
      const kind = kindOfOpen(sqlite);
      if (kind === 'empty' || (kind === 'mirror' && shapeOf(sqlite) === 'none'))
        throw new MirrorFileError(`${path} is empty. Fill it with "docmirror sync".`);
      if (!kinds.includes(kind)) throw refusal(path, kind);
      // A backup is written without a log, so it can have several names.
      if (sqlite.pragma('journal_mode', { simple: true }) === 'wal') assertOneName(file);
      check(sqlite, path, kind);
    }),
  );
}

function assertCurrent(sqlite: Database.Database, path: string, kind: FileKind): void {
  assertNotLater(sqlite, path);
  if (shapeOf(sqlite) === 'current') return;
  if (kind === 'share')
    throw new OtherShapeError(
      path,
      'is a share of an older docmirror. Make it again with "docmirror share".',
    );
  const what = `was made by docmirror ${versionOf(sqlite)}. Run "docmirror sync" with version ${version}, which copies the file and brings it up to date.`;
  throw new OtherShapeError(path, what, { code: 'upgrade_needed' });
}

/** Connects to a mirror; the connection is closed if it can't be prepared. */
export function connect(
  path: string,
  options: Database.Options,
  prepare: (sqlite: Database.Database) => void,
): MirrorFile {
  const sqlite = new Database(path, options);
  const close = () => void sqlite.close();
  try {
    // One in a user's own table would stop a run that removes a record, or remove the user's row.
    sqlite.pragma('foreign_keys = OFF');
    prepare(sqlite);
    sqlite.pragma(`cache_size = -${cacheKib}`);
  } catch (error) {
    close();
    throw error;
  }
  return { path, sqlite, orm: drizzle({ client: sqlite }), close, [Symbol.dispose]: close };
}

/** Where Drizzle's migrations are. */
export const migrationsFolder = join(packageFolder, 'migrations');

/** When each migration was generated, in milliseconds since 1970, the oldest first. */
export const migrations = readMigrationFiles({ migrationsFolder }).map(({ folderMillis }) => folderMillis);

/** The shape that this docmirror writes, as `user_version`: the number of all migrations so far, of which 0.2 had five. */
export const currentShape = firstShape - 1 + migrations.length;

/** How the shape of a mirror's tables compares with the current one; `none` if the mirror was never finished. */
export function shapeOf(sqlite: Database.Database): 'none' | 'older' | 'current' | 'later' {
  const shape = Number(sqlite.pragma('user_version', { simple: true }));
  if (shape >= currentShape) return shape === currentShape ? 'current' : 'later';
  return shape === 0 ? 'none' : 'older';
}

/** @throws OtherShapeError if a later docmirror wrote the mirror. */
export function assertNotLater(sqlite: Database.Database, path: string): void {
  if (shapeOf(sqlite) === 'later')
    throw new OtherShapeError(path, 'was made by a newer docmirror. Update docmirror to use it.');
}

/** The version of docmirror that upgraded a mirror last, or else of its first run. */
export function versionOf(sqlite: Database.Database): string {
  const known = `SELECT coalesce((SELECT version FROM docmirror_upgrades ORDER BY rowid DESC LIMIT 1),
    (SELECT docmirror_version FROM sync_runs ORDER BY id LIMIT 1), 'an older version')`;
  return sqlite.prepare<[], string>(known).pluck().get() as string;
}
