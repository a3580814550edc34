import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';
import { RefusedFileError } from '../../errors.ts';
import { assertNoForeignJournal } from './beside.ts';
import { noteConnection } from './connections.ts';
import { applicationIds, findOut } from './file-kind.ts';
import { mirrorToWrite } from './mirror-path.ts';
import { busyTimeoutMs, type MirrorFile, mirrorFile } from './open.ts';
import { makePrivateFile, privateFileMode } from './private-file.ts';
import { cacheKib } from './read-connection.ts';
import { laterShape, shapeOf } from './shape.ts';
import { explaining } from './sqlite-errors.ts';
import { bringUpToDate } from './upgrade.ts';

/**
 * Opens a mirror to write: makes the file where there is none, and brings its tables up to date in one transaction. The caller
 * holds the mirror's lock.
 *
 * @throws UsageError where no file could be at the path.
 * @throws RefusedFileError where the file is no mirror, or was made by a newer docmirror; it is left untouched.
 * @throws MirrorFileError where it is damaged, or can't be written.
 */
export function openForWriting(path: string): MirrorFile {
  return openWith(path, true, (sqlite, file) => {
    setUp(sqlite);
    bringUpToDate(sqlite, file);
  });
}

/**
 * Opens a mirror of the shape of now for what will be taken back: not a byte of the file changes, also where it is a copy that is
 * written through no log yet.
 *
 * @throws UsageError, RefusedFileError, MirrorFileError as `openForWriting` does.
 */
export function openForDryRun(path: string): MirrorFile {
  const { usesLog } = findOut(path);
  return openWith(path, usesLog, sqlite => {
    prepareConnection(sqlite);
    if (usesLog) return;
    // Who is killed then leaves neither a page in the file nor a journal beside it.
    sqlite.pragma('journal_mode = MEMORY');
    sqlite.pragma('cache_spill = OFF');
  });
}

function openWith(
  path: string,
  usesLog: boolean,
  prepare: (sqlite: Database.Database, file: string) => void,
): MirrorFile {
  const file = mirrorToWrite(path);
  return explaining(file, () => {
    const { kind } = findOut(file);
    assertNoForeignJournal(file);
    if (kind === 'none') makePrivateFile(file);
    // Somebody may have made it with other rights, for docmirror to fill.
    if (kind === 'empty') chmodSync(file, privateFileMode);
    const sqlite = new Database(file, { timeout: busyTimeoutMs });
    try {
      noteConnection(file, sqlite, { kind: 'mirror', usesLog });
      if (shapeOf(sqlite) === 'later') throw new RefusedFileError(laterShape(file));
      prepare(sqlite, file);
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

function setUp(sqlite: Database.Database): void {
  const isNew = sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  if (isNew) {
    // Only a file that holds nothing yet takes this: what pruning frees can then be given back to the disk.
    sqlite.pragma('auto_vacuum = INCREMENTAL');
    // Before there is a log: the id then stands in the file itself, whenever this process is killed.
    sqlite.pragma(`application_id = ${applicationIds.mirror}`);
  }
  sqlite.pragma('journal_mode = WAL');
  prepareConnection(sqlite);
}

function prepareConnection(sqlite: Database.Database): void {
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma(`cache_size = -${cacheKib}`);
}
