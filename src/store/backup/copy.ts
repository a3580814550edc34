import Database from 'better-sqlite3';
import type { MirrorFile } from '../file/open.ts';
import { makePrivateFile } from '../file/private-file.ts';

// All by hand: a look that opens the file, whatever its shape.

/** How a copy may be ended and followed; progress is told in pages of the SQLite file. */
export interface CopyOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (pagesDone: number, pageCount: number) => void;
}

/** Pages copied before signals and timers get their turn. */
const pagesPerStep = 1_000;

/**
 * Copies one state of a mirror, which runs may write meanwhile, into a new file of its own that opens anywhere. Only its owner
 * can read it.
 */
export async function copyMirror(source: MirrorFile, path: string, options: CopyOptions): Promise<void> {
  makePrivateFile(path);
  await copyPages(source, path, options);
  const copy = new Database(path);
  try {
    // A copy of a mirror still says that it is written through a log beside it, which could not be opened in a read-only place.
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

async function copyPages(
  { sqlite }: MirrorFile,
  path: string,
  { signal, onProgress }: CopyOptions,
): Promise<void> {
  // With a transaction open the copy is of one state; without, SQLite begins anew whenever a run writes.
  sqlite.exec('BEGIN');
  sqlite.prepare('SELECT count(*) FROM sync_runs').get();
  await sqlite.backup(path, {
    progress: ({ totalPages, remainingPages }) => {
      signal.throwIfAborted();
      onProgress(totalPages - remainingPages, totalPages);
      return pagesPerStep;
    },
  });
  signal.throwIfAborted();
}
