import type Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { MirrorFileError, RefusedFileError } from '../../errors.ts';
import * as schema from '../tables/schema.ts';
import { assertNoJournal, assertOwnBeside, assertReadableBeside } from './beside.ts';
import { findOut } from './file-kind.ts';
import { mirrorToRead } from './mirror-path.ts';
import { lookAtLog } from './own-log.ts';
import { cacheKib, connectToRead } from './read-connection.ts';
import { isShare, laterShape, shapeOf, versionOf } from './shape.ts';
import { explaining } from './sqlite-errors.ts';
import { isHeld } from './staging-file.ts';

/** A mirror's file, open. Bulk work goes through `sqlite`, everything else through `orm`; both are one connection. */
export interface MirrorFile extends Disposable {
  /** The file itself, where it was named by a symbolic link. */
  readonly path: string;
  readonly sqlite: Database.Database;
  readonly orm: BetterSQLite3Database<typeof schema>;
  close(): void;
}

/** How long a statement waits for another program's lock before it fails, in milliseconds. */
export const busyTimeoutMs: number = 1_000;

/**
 * Opens a mirror to read; never makes a file, and never upgrades one.
 *
 * @throws UsageError where no file could be at the path.
 * @throws RefusedFileError where the file is no mirror, or its shape is another; it says what to do.
 * @throws MirrorFileError where there is no file, or it is damaged.
 */
export function openForReading(path: string): MirrorFile {
  return openOfAnyShape(path, sqlite => assertCurrentShape(sqlite, path));
}

function assertCurrentShape(sqlite: Database.Database, path: string): void {
  const shape = shapeOf(sqlite);
  if (shape === 'empty') throw new MirrorFileError(`${path} is empty. Fill it with "docmirror sync".`);
  if (shape === 'later') throw new RefusedFileError(laterShape(path));
  if (shape === 'current') return;
  if (isShare(sqlite))
    throw new RefusedFileError(
      `${path} is a share that an older docmirror made. Make it again: docmirror share ${path}`,
    );
  throw new RefusedFileError(
    `${path} was made by docmirror ${versionOf(sqlite)}. Run "docmirror sync" once; it copies the file and brings it up to date.`,
  );
}

/**
 * Opens a mirror to read as `openForReading` does, or a share of one.
 *
 * @throws RefusedFileError, MirrorFileError, UsageError as `openForReading` does.
 */
export function openMirrorOrShare(path: string): MirrorFile {
  return openOfAnyShape(path, sqlite => assertCurrentShape(sqlite, path), true);
}

/**
 * Opens a mirror to read as `openForReading` does, but leaves it to the caller which shapes are good enough.
 *
 * @param takesShare true if a share will do, too.
 */
export function openOfAnyShape(
  path: string,
  check: (sqlite: Database.Database) => void,
  takesShare = false,
): MirrorFile {
  const { file, usesLog } = mirrorToRead(path, takesShare);
  return explaining(file, () => {
    assertReadableBeside(file);
    assertNoJournal(file);
    assertOwnBeside(file);
    const assertOwnLog = lookAtLog(file);
    const { sqlite, close } = connectToRead(file, usesLog, busyTimeoutMs * 10, () => isHeld(file));
    try {
      sqlite.pragma('query_only = ON');
      assertOwnLog(sqlite);
      check(sqlite);
      sqlite.pragma(`cache_size = -${cacheKib}`);
      return mirrorFile(file, sqlite, close);
    } catch (error) {
      close();
      throw error;
    }
  });
}

/** What is handed out of a connection to a mirror. */
export function mirrorFile(path: string, sqlite: Database.Database, close: () => void): MirrorFile {
  return { path, sqlite, orm: drizzle(sqlite, { schema }), close, [Symbol.dispose]: close };
}

/** True where a file begins as an SQLite database does. */
export function hasSqliteHeader(path: string): boolean {
  return explaining(path, () => !['none', 'empty', 'no database'].includes(findOut(path).kind));
}
