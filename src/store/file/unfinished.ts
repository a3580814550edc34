import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../../errors.ts';

const ending = '.docmirror-unfinished';
/** Somebody's file may end like that, too, but hardly with eight digits before it. */
const isOfThisForm = /\.[\da-f]{8}\.docmirror-unfinished$/;
/** An unfinished file this old was left by a process that was killed. */
const leftoverAgeMs = 24 * 60 * 60 * 1000;
/** Names of files that this process has begun: a clock that is set while it runs makes none of them a leftover. */
const begun = new Set<string>();

/** Where a file is written until it is whole: beside its own name, so that it can be renamed, and like no other. */
export function unfinishedPath(path: string): string {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}${ending}`;
  begun.add(basename(unfinished));
  return unfinished;
}

/** What SQLite leaves beside a database, by its ending. */
const besides = ['-journal', '-wal', '-shm'];

/** Gives a file that is whole its name, in one step that also a power cut can't halve. */
export function putInPlace(unfinished: string, path: string): void {
  flush(unfinished);
  renameSync(unfinished, path);
  flush(dirname(resolve(path)));
}

/** Does the same for a database. What SQLite left beside an earlier one goes first, because SQLite would take it for a part of the new one. */
export function putDatabaseInPlace(unfinished: string, path: string): void {
  for (const beside of besides) rmSync(`${path}${beside}`, { force: true });
  putInPlace(unfinished, path);
}

/** Gives a file that is whole a name, unless something has it already; false where something has. */
export function putInNewPlace(unfinished: string, path: string): boolean {
  flush(unfinished);
  try {
    linkSync(unfinished, path);
    rmSync(unfinished);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || existsSync(path)) return false;
    // Not every file system knows links.
    renameSync(unfinished, path);
  }
  flush(dirname(resolve(path)));
  return true;
}

/** Removes an unfinished file with what SQLite may have left beside it. */
export function removeUnfinished(path: string): void {
  for (const beside of ['', ...besides]) {
    try {
      rmSync(`${path}${beside}`, { force: true });
    } catch {
      // What could not be written is to be told, not that it could not be removed; a later command removes it.
    }
  }
}

/** A file that a process has begun and not finished: it writes it still, or it was killed. */
interface Unfinished {
  readonly path: string;
  /** Its size, in bytes. */
  readonly bytes: number;
  readonly ageMs: number;
}

/** What processes that still run, or were killed, have begun in a folder. */
export function unfinishedIn(folder: string): Unfinished[] {
  return readdirSync(folder)
    .filter(each => isOfThisForm.test(each) && !begun.has(each))
    .flatMap(name => {
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat?.isFile() ? [{ path, bytes: stat.size, ageMs: Date.now() - stat.mtimeMs }] : [];
    });
}

/** Removes what processes that were killed have left in a folder. */
export function removeLeftovers(folder: string): void {
  for (const { path, ageMs } of unfinishedIn(folder)) if (ageMs > leftoverAgeMs) removeUnfinished(path);
}

/** Waits until the disk holds a file, or the names in a folder. */
function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
