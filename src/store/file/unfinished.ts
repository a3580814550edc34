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
/** The eight digits make it unlikely that a user's file has this ending. */
const isOfThisForm = /\.[\da-f]{8}\.docmirror-unfinished$/;
/** An unfinished file this old is from a process that was killed. */
const leftoverAgeMs = 24 * 60 * 60 * 1000;
/** The unfinished files of this process: even if the clock is changed, none of them counts as a leftover. */
const begun = new Set<string>();

/** The path of a file until it is complete: in the same folder, so that it can be renamed, and unique. */
export function unfinishedPath(path: string): string {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}${ending}`;
  begun.add(basename(unfinished));
  return unfinished;
}

/** The endings of the files that SQLite leaves beside a database. */
const besides = ['-journal', '-wal', '-shm'];

/** Gives a finished file its name, in one step that not even a power cut can divide. */
export function putInPlace(unfinished: string, path: string): void {
  flush(unfinished);
  renameSync(unfinished, path);
  flush(dirname(resolve(path)));
}

/**
 * Does the same for a database. It first removes SQLite's files of an earlier one, because SQLite would use them for the new one.
 */
export function putDatabaseInPlace(unfinished: string, path: string): void {
  for (const beside of besides) rmSync(`${path}${beside}`, { force: true });
  putInPlace(unfinished, path);
}

/** Gives a finished file a name, unless another file has it already; false if one has. */
export function putInNewPlace(unfinished: string, path: string): boolean {
  flush(unfinished);
  try {
    linkSync(unfinished, path);
    rmSync(unfinished);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || existsSync(path)) return false;
    // Some file systems do not support hard links.
    renameSync(unfinished, path);
  }
  flush(dirname(resolve(path)));
  return true;
}

/** Removes an unfinished file and SQLite's files beside it. */
export function removeUnfinished(path: string): void {
  for (const beside of ['', ...besides]) {
    try {
      rmSync(`${path}${beside}`, { force: true });
    } catch {
      // The write error matters more than this one; a later command removes the file.
    }
  }
}

/** A file that a process has begun and not finished: it is still being written, or the process was killed. */
interface Unfinished {
  readonly path: string;
  /** Its size, in bytes. */
  readonly bytes: number;
  readonly ageMs: number;
}

/** The unfinished files in a folder, of running processes and of killed ones. */
export function unfinishedIn(folder: string): Unfinished[] {
  return readdirSync(folder)
    .filter(each => isOfThisForm.test(each) && !begun.has(each))
    .flatMap(name => {
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat?.isFile() ? [{ path, bytes: stat.size, ageMs: Date.now() - stat.mtimeMs }] : [];
    });
}

/** Removes what killed processes have left in a folder. */
export function removeLeftovers(folder: string): void {
  for (const { path, ageMs } of unfinishedIn(folder)) if (ageMs > leftoverAgeMs) removeUnfinished(path);
}

/** Waits until a file, or the list of names in a folder, is on the disk. */
function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
