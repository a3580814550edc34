import Database from 'better-sqlite3';
import type { MirrorFile } from '../file/open.ts';
import { makePrivateFile } from '../file/private-file.ts';

// All by hand: a look that opens the file, whatever its shape.

/** How to end and follow a copy. Progress is in pages of the SQLite file. */
export interface CopyOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (pagesDone: number, pageCount: number) => void;
}

/** Pages to copy before signals and timers get their turn. */
const pagesPerStep = 1_000;

/**
 * Copies one state of a mirror into a new file of its own that opens anywhere. Runs can write to the mirror meanwhile. Only its
 * owner can read the file.
 */
export async function copyMirror(source: MirrorFile, path: string, options: CopyOptions): Promise<void> {
  makePrivateFile(path);
  await copyPages(source, path, options);
  const copy = new Database(path);
  try {
    // A copy of a mirror is still marked as a file with a log beside it. A file like that can't be opened in a read-only place.
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
  // With a transaction open, the copy is one state. Without, SQLite begins again whenever a run writes.
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
