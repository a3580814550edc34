import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { MirrorFileError, RefusedFileError } from '../../errors.ts';
import * as schema from '../tables/schema.ts';
import { assertNoJournal, assertOwnBeside, assertReadableBeside } from './beside.ts';
import { noteConnection } from './connections.ts';
import { applicationIds, findOut } from './file-kind.ts';
import { mirrorToRead, mirrorToWrite } from './mirror-path.ts';
import { makePrivateFile, privateFileMode } from './private-file.ts';
import { cacheKib, connectToRead } from './read-connection.ts';
import { shapeOf, versionOf } from './shape.ts';
import { explaining } from './sqlite-errors.ts';
import { bringUpToDate, laterShape } from './upgrade.ts';

/** A mirror's file, open. Bulk work goes through `sqlite`, everything else through `orm`; both are one connection. */
export interface MirrorFile extends Disposable {
  /** The file itself, where it was named by a symbolic link. */
  readonly path: string;
  readonly sqlite: Database.Database;
  readonly orm: BetterSQLite3Database<typeof schema>;
  close(): void;
}

/** How long a statement waits for another program's lock before it fails, in milliseconds. */
const busyTimeoutMs = 1_000;

/**
 * Opens a mirror to write: makes the file where there is none, and brings its tables up to date in one transaction. The caller
 * holds the mirror's lock.
 *
 * @throws UsageError where no file could be at the path.
 * @throws RefusedFileError where the file is no mirror, or was made by a newer docmirror; it is left untouched.
 * @throws MirrorFileError where it is damaged, or can't be written.
 */
export function openForWriting(path: string): MirrorFile {
  const file = mirrorToWrite(path);
  return explaining(file, () => {
    const { kind, usesLog } = findOut(file);
    // A file that is written by way of a journal is being made, or was restored; its journal is this program's own.
    if (usesLog) assertNoJournal(file);
    assertOwnBeside(file);
    if (kind === 'none') makePrivateFile(file);
    // Somebody may have made it with other rights, for docmirror to fill.
    if (kind === 'empty') chmodSync(file, privateFileMode);
    const sqlite = new Database(file, { timeout: busyTimeoutMs });
    try {
      noteConnection(file, sqlite, { kind: 'mirror', usesLog: true });
      if (shapeOf(sqlite) === 'later') throw new RefusedFileError(laterShape(file));
      setUp(sqlite);
      bringUpToDate(sqlite, file);
      return mirrorFile(file, sqlite, () => sqlite.close());
    } catch (error) {
      sqlite.close();
      throw error;
    }
  });
}

/** A mirror in memory that ends with its connection, for a run that must leave nothing behind. */
export function openInMemory(): MirrorFile {
  const sqlite = new Database(':memory:');
  sqlite.pragma('foreign_keys = ON');
  bringUpToDate(sqlite, ':memory:');
  return mirrorFile(':memory:', sqlite, () => sqlite.close());
}

/**
 * Opens a mirror to read; never makes a file, and never upgrades one.
 *
 * @throws UsageError where no file could be at the path.
 * @throws RefusedFileError where the file is no mirror, or its shape is another; it says what to do.
 * @throws MirrorFileError where there is no file, or it is damaged.
 */
export function openForReading(path: string): MirrorFile {
  return openOfAnyShape(path, sqlite => {
    const shape = shapeOf(sqlite);
    if (shape === 'empty') throw new MirrorFileError(`${path} is empty. Fill it with "docmirror sync".`);
    if (shape === 'later') throw new RefusedFileError(laterShape(path));
    if (shape === 'older') {
      throw new RefusedFileError(
        `${path} was made by docmirror ${versionOf(sqlite)}. Run "docmirror sync" once; it copies the file and brings it up to date.`,
      );
    }
  });
}

/** Opens a mirror to read as `openForReading` does, but leaves it to the caller which shapes are good enough. */
export function openOfAnyShape(path: string, check: (sqlite: Database.Database) => void): MirrorFile {
  const { file, usesLog } = mirrorToRead(path);
  return explaining(file, () => {
    assertReadableBeside(file);
    assertNoJournal(file);
    assertOwnBeside(file);
    const { sqlite, close } = connectToRead(file, usesLog, busyTimeoutMs * 10);
    try {
      sqlite.pragma('query_only = ON');
      check(sqlite);
      sqlite.pragma(`cache_size = -${cacheKib}`);
      return mirrorFile(file, sqlite, close);
    } catch (error) {
      close();
      throw error;
    }
  });
}

function mirrorFile(path: string, sqlite: Database.Database, close: () => void): MirrorFile {
  return { path, sqlite, orm: drizzle(sqlite, { schema }), close, [Symbol.dispose]: close };
}

/** True where a file begins as an SQLite database does. */
export function hasSqliteHeader(path: string): boolean {
  return explaining(path, () => !['none', 'empty', 'no database'].includes(findOut(path).kind));
}

function setUp(sqlite: Database.Database): void {
  const isNew = sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  if (isNew) {
    // Only a file that holds nothing yet takes this: what pruning frees can then be given back to the disk.
    sqlite.pragma('auto_vacuum = INCREMENTAL');
    // Before there is a log: the id then stands in the file itself, whenever this process is killed.
    sqlite.pragma(`application_id = ${applicationIds.mirror}`);
  }
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma(`cache_size = -${cacheKib}`);
}
