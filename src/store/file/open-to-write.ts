import { chmodSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  makePrivateFile,
  privateFileMode,
  removeLeftovers,
  removeUnfinished,
  unfinishedPath,
} from './atomic-file.ts';
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
    return openToWrite(file);
  });
}

/**
 * Copies an open mirror, for a run whose result ends with the copy. Only the owner of this process can read it, and it is removed when
 * it is closed.
 */
export function openCopy({ path, sqlite }: MirrorFile): MirrorFile {
  removeLeftovers(dirname(resolve(path)));
  const copy = unfinishedPath(path);
  return explaining(copy, () => {
    try {
      makePrivateFile(copy);
      sqlite.pragma('query_only = OFF');
      sqlite.prepare('VACUUM INTO ?').run(copy);
      const copied = connectTo(copy);
      copied.pragma('synchronous = OFF');
      copied.pragma(`cache_size = -${cacheKib}`);
      const close = () => {
        copied.close();
        removeUnfinished(copy);
      };
      return { ...mirrorFile(path, copied), close, [Symbol.dispose]: close };
    } catch (error) {
      removeUnfinished(copy);
      throw error;
    }
  });
}

/** A mirror in memory that ends with its connection, for a run that must leave no file. */
export function openInMemory(): MirrorFile {
  const sqlite = connectTo(':memory:');
  bringUpToDate(sqlite, ':memory:');
  return mirrorFile(':memory:', sqlite);
}

function openToWrite(file: string): MirrorFile {
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
    bringUpToDate(sqlite, file);
    return mirrorFile(file, sqlite);
  });
}
