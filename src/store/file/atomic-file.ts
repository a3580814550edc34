import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, DocmirrorError, MirrorFileError, RefusedFileError } from '../../errors.ts';
import { behindLink, kindOf } from './open.ts';

/** The mode of docmirror's files: only their owner can read them. SQLite gives the files beside a database the mode of the database. */
export const privateFileMode = 0o600;

const ending = '.docmirror-unfinished';

/** An unfinished file this old is from a process that was killed. */
const leftoverAgeMs = 24 * 60 * 60 * 1000;

/** The endings of the files that SQLite leaves beside a database. */
const besides = ['-journal', '-wal', '-shm'];

/** A file that appears under its name only when it is complete. Until then it is beside that name, for its owner alone. */
class Unfinished implements Disposable {
  readonly path: string;
  readonly unfinished: string;

  constructor(path: string) {
    this.path = path;
    this.unfinished = `${path}.${randomBytes(4).toString('hex')}${ending}`;
    tried(path, () => {
      removeLeftovers(dirname(resolve(path)));
      closeSync(openSync(this.unfinished, 'wx', privateFileMode));
    });
  }

  /** Gives the finished file its name, or another one, in one step that not even a power cut can divide. */
  putInPlace(path = this.path): void {
    tried(path, () => {
      flush(this.unfinished);
      renameSync(this.unfinished, path);
      flush(dirname(resolve(path)));
    });
  }

  [Symbol.dispose](): void {
    removeDatabase(this.unfinished);
  }
}

/** A copy of a database that appears under its name only when it is complete. */
export class DatabaseCopy extends Unfinished {
  /** Copies one state of an open database, without free pages, and without bytes of other pages. The copy needs no log. */
  fill(source: Database.Database): void {
    // A reader of a mirror can't write, and SQLite takes this statement for a write. What is written waits for the disk at the end.
    for (const setting of ['query_only = OFF', 'synchronous = OFF', 'secure_delete = ON'])
      source.pragma(setting);
    source.prepare('VACUUM INTO ?').run(this.unfinished);
  }

  override putInPlace(path = this.path): void {
    // SQLite would use the files of an earlier database for the new one.
    for (const beside of besides) rmSync(`${path}${beside}`, { force: true });
    super.putInPlace(path);
  }
}

/** An output that appears under its name only when it is complete. */
export class AtomicFile extends Unfinished {
  /** The number of bytes written so far. */
  bytes = 0;

  /**
   * Begins the file, in a folder that exists. A symbolic link is followed, and a file that is replaced leaves its mode to this one.
   *
   * @param newMode its mode if there is no file yet.
   * @throws RefusedFileError if a mirror, a lock or a folder is at the path, or it can't be written.
   */
  constructor(path: string, newMode = privateFileMode) {
    super(replaceable(path));
    chmodSync(this.unfinished, (statSync(this.path, { throwIfNoEntry: false })?.mode ?? newMode) & 0o777);
  }

  write(content: string | Uint8Array): void {
    tried(this.path, () => appendFileSync(this.unfinished, content));
    this.bytes += Buffer.byteLength(content);
  }
}

/** Writes an `AtomicFile` in one step: a reader finds the old text or the new one, never a part of either. */
export function writeWhole(path: string, content: string | Uint8Array, newMode = privateFileMode): void {
  using file = new AtomicFile(path, newMode);
  file.write(content);
  file.putInPlace();
}

/**
 * The file that an output replaces: that at the path, or behind a symbolic link.
 *
 * @throws RefusedFileError if it can't be made again: a mirror, its log or its lock, or what is no regular file.
 */
export function replaceable(path: string): string {
  const refuse = (what: string) =>
    new RefusedFileError(`${path} is ${what}. It was left as it is; name another file.`);
  return tried(path, () => {
    const file = behindLink(path);
    if (/(-(wal|shm|journal)|\.lock)$/.test(file))
      throw refuse('a name that SQLite or docmirror uses beside a mirror');
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw refuse('not a regular file');
    // SQLite opens it: if Node closed a file that SQLite has locked, this process would lose the lock.
    if (kindOf(file).endsWith('mirror')) throw refuse('a mirror, or a backup of one');
    return file;
  });
}

/** Makes an empty file that only its owner can read, whatever the umask is, unless there is a file already. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', privateFileMode));
}

/** Makes a folder and its missing parents; only their owner can look into them. */
export function makeFolders(folder: string): void {
  tried(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
}

/** Gives a file the owner of another one, if there is one: root can run docmirror by hand, and the usual owner must still be able to. */
export function shareOwner(path: string, other: string): void {
  try {
    const { uid, gid } = statSync(other);
    chownSync(path, uid, gid);
  } catch {
    // Only root can give files away.
  }
}

/** The error of an output that can't be written. If the disk can be written, another name might help: its exit code says so. */
export function writeError(path: string, cause: unknown): MirrorFileError {
  const reason = codeOf(cause) ?? 'no reason given';
  const isFull = reason === 'ENOSPC';
  const ErrorOfDisk = /^(ENOSPC|EROFS|EIO)$/.test(reason) ? MirrorFileError : RefusedFileError;
  return new ErrorOfDisk(
    `${path} can't be written: ${isFull ? 'the disk is full' : reason}. Nothing was put in its place.`,
    { cause, code: isFull ? 'disk_full' : 'output_failed' },
  );
}

function tried<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof DocmirrorError ? error : writeError(path, error);
  }
}

/** Removes what killed processes have left in a folder. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter(each => each.endsWith(ending))) {
    const madeAt = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeAt > leftoverAgeMs) removeDatabase(join(folder, name));
  }
}

/** Removes a file and SQLite's files beside it. */
function removeDatabase(path: string): void {
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
