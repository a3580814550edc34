import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';
import { applicationIds, busyTimeoutMs, kindOf } from './file-kind.ts';
import { holdLock } from './lock-file.ts';
import { mirrorToWrite } from './mirror-path.ts';
import { cacheKib, connectTo, type MirrorFile, mirrorFile, openOfAnyShape } from './open.ts';
import { makePrivateFile, privateFileMode } from './private-file.ts';
import { laterShape, shapeOf, versionOf } from './shape.ts';
import { explaining } from './sqlite-errors.ts';
import { assertCanUpgrade, bringUpToDate, type Upgrade } from './upgrade.ts';

/**
 * Opens a mirror to write. It creates a missing file, and upgrades the tables in one transaction. The caller must have the mirror's
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
    return connect(file, sqlite => bringUpToDate(sqlite, file));
  });
}

/**
 * Upgrades a mirror of an older shape, under its lock. The next run reads all its rows, as it does after any change to the file.
 *
 * @returns null if it already has the current shape; nothing was changed.
 * @throws MirrorBusyError if a run is using the mirror.
 * @throws RefusedFileError, MirrorFileError as `openForWriting` does; also if there is no mirror.
 */
export function upgradeMirror(path: string): Upgrade | null {
  if (upgradesFrom(path) === null) return null;
  const file = mirrorToWrite(path);
  const giveBack = holdLock(file);
  try {
    return explaining(file, () => {
      let done: Upgrade | null = null;
      connect(file, sqlite => {
        done = bringUpToDate(sqlite, file);
      }).close();
      return done;
    });
  } finally {
    giveBack();
  }
}

/**
 * The version of docmirror that has the mirror's older shape, if it can be upgraded; null if the shape is current. Nothing is
 * changed.
 *
 * @throws RefusedFileError, MirrorFileError as `upgradeMirror` would.
 */
export function upgradesFrom(path: string): string | null {
  mirrorToWrite(path);
  using file = openOfAnyShape(path, () => undefined);
  return explaining(file.path, () => {
    const shape = shapeOf(file.sqlite);
    if (shape === 'later') throw laterShape(file.path);
    if (shape === 'current') return null;
    assertCanUpgrade(file.sqlite, file.path);
    return versionOf(file.sqlite);
  });
}

/**
 * Opens a mirror of the current shape for writes that will be rolled back.
 *
 * @throws UsageError, RefusedFileError, MirrorFileError as `openForWriting` does.
 */
export function openForDryRun(path: string): MirrorFile {
  const file = mirrorToWrite(path);
  return explaining(file, () => connect(file, () => undefined));
}

function connect(file: string, prepare: (sqlite: Database.Database) => void): MirrorFile {
  const sqlite = connectTo(file, { timeout: busyTimeoutMs });
  try {
    if (shapeOf(sqlite) === 'later') throw laterShape(file);
    if (shapeOf(sqlite) === 'empty') {
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
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** How long `doctor` waits for another program that writes, in milliseconds; a run waits longer. */
const writerMsMax = 2_000;

/** @throws MirrorFileError if another program has SQLite's write lock on the mirror. */
export function assertNobodyWrites(path: string): void {
  explaining(path, () => {
    const sqlite = new Database(path, { fileMustExist: true, timeout: writerMsMax });
    try {
      sqlite.exec('BEGIN IMMEDIATE; ROLLBACK');
    } finally {
      sqlite.close();
    }
  });
}

/** A mirror in memory that ends with its connection, for a run that must leave no file. */
export function openInMemory(): MirrorFile {
  const sqlite = connectTo(':memory:');
  bringUpToDate(sqlite, ':memory:');
  return mirrorFile(':memory:', sqlite);
}
