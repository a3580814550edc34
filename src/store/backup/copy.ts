import { lstatSync } from 'node:fs';
import Database from 'better-sqlite3';
import { RefusedFileError } from '../../errors.ts';
import type { MirrorFile } from '../file/open.ts';
import { makePrivateFile } from '../file/private-file.ts';

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

/** What SQLite keeps beside a database, and would take for part of any file of that name. */
export const namesBeside: readonly string[] = ['-wal', '-shm', '-journal'];

/**
 * Makes sure that nothing lies beside a file that SQLite would take for part of it.
 *
 * @throws RefusedFileError that names what lies there; it is left as it is.
 */
export function assertNothingBeside(path: string): void {
  const found = namesBeside.find(
    name => lstatSync(`${path}${name}`, { throwIfNoEntry: false }) !== undefined,
  );
  if (found === undefined) return;
  throw new RefusedFileError(
    `${path}${found} lies there: a program has ${path} open, or left it behind, and it would damage a new file of that name. Close the program or remove it, or name another file.`,
  );
}
