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
 * Opens a mirror to write: makes the file if there is none, and brings its tables up to date in one transaction. The caller holds
 * the mirror's lock.
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
    // Somebody may have made it with other rights, for docmirror to fill.
    if (kind === 'empty') chmodSync(file, privateFileMode);
    return connect(file, sqlite => bringUpToDate(sqlite, file));
  });
}

/**
 * Upgrades a mirror of an older shape, under its lock. The next run looks at every row of it, as of any file that was changed.
 *
 * @returns null if it has the shape of now; nothing was changed.
 * @throws MirrorBusyError if a run holds it.
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
 * The docmirror whose shape a mirror has, if it is an older one that can be upgraded; null if it has the shape of now. Nothing is
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
      // Only a file without tables takes this: what pruning frees can then be given back to the disk.
      sqlite.pragma('auto_vacuum = INCREMENTAL');
      // Before there is a log: the id is then in the file itself, whenever this process is killed.
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

/** How long another program may go on writing before `doctor` says so, in milliseconds; a run waits longer. */
const writerMsMax = 2_000;

/** @throws MirrorFileError if another program holds the right to write to a mirror. */
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

/** A mirror in memory that ends with its connection, for a run that must leave nothing behind. */
export function openInMemory(): MirrorFile {
  const sqlite = connectTo(':memory:');
  bringUpToDate(sqlite, ':memory:');
  return mirrorFile(':memory:', sqlite);
}
