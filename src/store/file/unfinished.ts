import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { attempt, codeOf, DocmirrorError, MirrorFileError, RefusedFileError } from '../../errors.ts';
import { privateFileMode, takeRights } from './rights.ts';

/** The ending of files that are not complete; old ones are removed. */
export const ending = '.docmirror-unfinished';

/** An unfinished file this old is from a process that was killed. */
const leftoverAgeMs = 24 * 60 * 60 * 1000;

/** The endings of the files that SQLite leaves beside a database. */
export const besides = ['-journal', '-wal', '-shm'];

/** A file that is beside its name, for its owner alone, until it is complete. If it replaces another one, it gets that one's rights. */
export class Unfinished implements Disposable {
  readonly path: string;
  readonly unfinished: string;
  readonly #newMode: number;

  /** @param newMode its mode if there is no file at the path yet. */
  constructor(path: string, newMode = privateFileMode) {
    this.path = path;
    this.unfinished = `${path}.${randomBytes(4).toString('hex')}${ending}`;
    this.#newMode = newMode;
    removeLeftovers(dirname(resolve(path)));
    // Whether it can be written is known before the work begins.
    writing(path, () => closeSync(openSync(this.unfinished, 'wx', privateFileMode)));
  }

  /** Gives the finished file its name, or another one, in one step that not even a power cut can divide. */
  putInPlace(path = this.path): void {
    writing(path, () => {
      takeRights(this.unfinished, path, this.#newMode);
      flush(this.unfinished);
      renameSync(this.unfinished, path);
    });
    try {
      flush(dirname(resolve(path)));
    } catch (error) {
      // The file is in its place. A folder that can't be read, or a file system that flushes no folders, is no reason to fail.
      if (!/^(EACCES|EPERM|EINVAL|ENOTSUP|EISDIR)$/.test(codeOf(error) ?? '')) throw writeError(path, error);
    }
  }

  [Symbol.dispose](): void {
    removeDatabase(this.unfinished);
  }
}

/** The error of an output that can't be written. If the disk can be written, another name might help: its exit code says so. */
export function writeError(path: string, cause: unknown): MirrorFileError {
  const reason = codeOf(cause) ?? 'no reason given';
  const isFull = reason === 'ENOSPC';
  const ErrorOfDisk = /^(ENOSPC|EROFS|EIO)$/.test(reason) ? MirrorFileError : RefusedFileError;
  const why = isFull ? 'the disk is full' : reason;
  const message = `${path} can't be written: ${why}. Nothing was put in its place.`;
  return new ErrorOfDisk(message, { cause, code: isFull ? 'disk_full' : 'output_failed' });
}

/** Does some work on an output; failures of the file system are explained as in `writeError`. */
export function writing<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof DocmirrorError ? error : writeError(path, error);
  }
}

/** Makes a folder and its missing parents; only their owner can look into them. */
export function makeFolders(folder: string): void {
  writing(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
}

/** Removes all unfinished files of a path. The caller knows that nobody is writing one. */
export function removeUnfinished(path: string): void {
  const own = `${basename(path)}.`;
  const names = readdirSync(dirname(resolve(path)));
  for (const name of names.filter(each => each.startsWith(own) && each.endsWith(ending)))
    removeDatabase(join(dirname(resolve(path)), name));
}

/** Removes what killed processes have left in a folder. It is a courtesy: what can't be removed, or is another user's, stays. */
function removeLeftovers(folder: string): void {
  // The folder can be one that this user can only write.
  const names = attempt(() => readdirSync(folder)) ?? [];
  for (const path of names.filter(name => name.endsWith(ending)).map(name => join(folder, name)))
    attempt(() => {
      const stat = lstatSync(path);
      if (stat.isFile() && Date.now() - stat.mtimeMs > leftoverAgeMs) removeDatabase(path);
    });
}

/** Removes a file and SQLite's files beside it. */
export function removeDatabase(path: string): void {
  for (const beside of ['', ...besides]) rmSync(`${path}${beside}`, { force: true });
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
