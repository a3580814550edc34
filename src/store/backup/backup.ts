import { closeSync, fsyncSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { MirrorFileError, UsageError } from '../../errors.ts';
import { hasSqliteHeader, type MirrorFile, openForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { removeLeftovers, removeUnfinished, unfinishedPath } from '../file/unfinished.ts';
import { type Verification, verifyMirror } from '../verify/verify.ts';

export interface BackupOptions {
  /** The most differences that are listed where the copy is not sound. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly onProgress: (pagesDone: number, pageCount: number) => void;
}

/** How a backup ended: under its name where its verification found no difference, nowhere otherwise. */
export interface Backup {
  readonly path: string;
  readonly bytes: number;
  readonly verification: Verification;
}

/** Pages copied before signals and timers get their turn. */
const pagesPerStep = 1_000;

/**
 * Copies a mirror while runs may write to it. The copy is one state of the mirror: it is written beside its final name, made a
 * single file that opens anywhere, audited against its own run records, and only then given its name.
 *
 * @throws UsageError where the destination can't be one.
 * @throws MirrorFileError where there is no mirror, or the copy can't be written.
 */
export async function backUp(source: string, destination: string, options: BackupOptions): Promise<Backup> {
  assertIsDestination(source, destination);
  removeLeftovers(dirname(resolve(destination)));
  const unfinished = unfinishedPath(resolve(destination));
  try {
    await copy(source, unfinished, options);
    const verification = await verifyMirror(unfinished, options);
    const isSound = verification.differenceCount === 0;
    if (isSound) putInPlace(unfinished, destination);
    const bytes = statSync(isSound ? destination : unfinished).size;
    return {
      path: destination,
      bytes,
      verification: { ...verification, path: isSound ? destination : `The copy of ${source}` },
    };
  } catch (error) {
    throw explainSqliteError(error, destination);
  } finally {
    removeUnfinished(unfinished);
  }
}

async function copy(source: string, unfinished: string, options: BackupOptions): Promise<void> {
  const file = openForReading(source);
  try {
    makeEmpty(unfinished, statSync(source).mode);
    await copyPages(file, unfinished, options);
  } finally {
    file.close();
  }
  makeSingleFile(unfinished);
}

/** Made first, so that a copy of secrets can be read by no one who can't read the mirror. */
function makeEmpty(path: string, mode: number): void {
  closeSync(openSync(path, 'wx', mode & 0o777));
}

async function copyPages(
  { sqlite }: MirrorFile,
  unfinished: string,
  { signal, onProgress }: BackupOptions,
): Promise<void> {
  // With a transaction open the copy is of one state; without, SQLite begins anew whenever a run writes.
  sqlite.exec('BEGIN');
  sqlite.prepare('SELECT count(*) FROM sync_runs').get();
  await sqlite.backup(unfinished, {
    progress: ({ totalPages, remainingPages }) => {
      signal.throwIfAborted();
      onProgress(totalPages - remainingPages, totalPages);
      return pagesPerStep;
    },
  });
  signal.throwIfAborted();
}

/** A copy of a mirror still says that it is written through a log beside it, which could not be opened in a read-only place. */
function makeSingleFile(path: string): void {
  const sqlite = new Database(path);
  try {
    sqlite.pragma('journal_mode = DELETE');
  } finally {
    sqlite.close();
  }
}

function putInPlace(unfinished: string, destination: string): void {
  flush(unfinished);
  renameSync(unfinished, destination);
  flush(dirname(resolve(destination)));
}

/** Waits until the disk holds it. */
function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function assertIsDestination(source: string, destination: string): void {
  const folder = dirname(resolve(destination));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`The folder ${folder} does not exist. Make it, or name another file.`);
  }
  const existing = statSync(destination, { throwIfNoEntry: false });
  if (existing === undefined) return;
  if (existing.isDirectory()) {
    throw new UsageError(
      `${destination} is a folder. Name a file in it, or say how many to keep with --keep.`,
    );
  }
  const mirror = statSync(source, { throwIfNoEntry: false });
  if (mirror !== undefined && mirror.ino === existing.ino && mirror.dev === existing.dev) {
    throw new UsageError(`${destination} is the mirror itself. Name another file.`);
  }
  if (existing.size > 0 && !hasSqliteHeader(destination)) {
    throw new MirrorFileError(
      `${destination} is no backup of a mirror. It was left as it is; name another file.`,
    );
  }
}
