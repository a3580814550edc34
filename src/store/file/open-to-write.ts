import { chmodSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { makePrivateFile, privateFileMode } from './atomic-file.ts';
import { bringUpToDate } from './migrate.ts';
import { applicationIds, busyTimeoutMs, kindOf, mirrorToWrite } from './mirror-path.ts';
import {
  cacheKib,
  closedIfItFails,
  connectTo,
  laterShape,
  type MirrorFile,
  mirrorFile,
  shapeOf,
} from './open.ts';
import { explaining } from './sqlite-errors.ts';

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
