import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf, DocmirrorError, exitCodes, RefusedFileError } from '../../errors.ts';
import { kindOf } from './mirror-path.ts';
import { explaining } from './sqlite-errors.ts';

/** The mode of docmirror's files: only their owner can read them. SQLite gives the files beside a database the mode of the database. */
export const privateFileMode = 0o600;

/** The size of the write buffer, in bytes. */
const bufferBytes = 1024 * 1024;

/** An output can't be written. This is no fault of docmirror: its message is one line. */
export class FileWriteError extends DocmirrorError {
  readonly #isOfDisk: boolean;

  constructor(path: string, cause: unknown) {
    const reason = codeOf(cause) ?? 'no reason given';
    const words = reason === 'ENOSPC' ? 'the disk is full' : reason;
    super(
      reason === 'ENOSPC' ? 'disk_full' : 'output_failed',
      `${path} can't be written: ${words}. Nothing was put in its place.`,
      { cause },
    );
    this.#isOfDisk = /^(ENOSPC|EROFS|EIO)$/.test(reason);
  }

  /** If the disk can be written, another path might work. */
  override get exitCode(): number {
    return this.#isOfDisk ? exitCodes.failed : exitCodes.usage;
  }
}

/**
 * A file that appears under its name only when it is complete: it is written beside that name and then renamed. Only its owner can
 * read it, unless it replaces a file with another mode. All its methods throw a FileWriteError if the file system fails.
 */
export class AtomicFile {
  readonly path: string;
  readonly #unfinishedPath: string;
  readonly #file: number;
  #chunks: Buffer[] = [];
  #waiting = 0;
  #bytes = 0;
  #isOpen = true;

  /**
   * Begins the file, in a folder that exists. A symbolic link is followed.
   *
   * @param newMode its mode if there is no file yet.
   * @throws RefusedFileError if a mirror, a lock or a folder is at the path.
   */
  constructor(path: string, newMode = privateFileMode) {
    this.path = tried(path, () =>
      lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : path,
    );
    this.#unfinishedPath = unfinishedPath(this.path);
    this.#file = tried(this.path, () => {
      assertReplaceable(this.path);
      removeLeftovers(dirname(resolve(this.path)));
      const mode = statSync(this.path, { throwIfNoEntry: false })?.mode ?? newMode;
      const file = openSync(this.#unfinishedPath, 'wx', privateFileMode);
      fchmodSync(file, mode & 0o777);
      return file;
    });
  }

  /** The number of bytes written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  readonly write = (content: string | Uint8Array): void => {
    const chunk =
      typeof content === 'string'
        ? Buffer.from(content)
        : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    this.#bytes += chunk.length;
    if (this.#waiting >= bufferBytes) this.#flush();
  };

  /** Waits until everything is on the disk. */
  finish(): void {
    this.#flush();
    tried(this.path, () => fsyncSync(this.#file));
    this.#close();
  }

  /** Gives the finished file its name. */
  putInPlace(): void {
    tried(this.path, () => putInPlace(this.#unfinishedPath, this.path));
  }

  /** Removes the unfinished file, unless it is already in its place. */
  discard(): void {
    this.#close();
    rmSync(this.#unfinishedPath, { force: true });
  }

  #flush(): void {
    const chunk = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    tried(this.path, () => writeFileSync(this.#file, chunk));
    this.#chunks = [];
    this.#waiting = 0;
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}

function tried<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof DocmirrorError ? error : new FileWriteError(path, error);
  }
}

/**
 * Writes a file in one step: a reader finds the old text or the new one, never a part of either.
 *
 * @param newMode its mode if there is no file yet; by default only its owner can read it.
 * @throws FileWriteError if it can't be written; the old text is still there.
 * @throws RefusedFileError if a mirror, a lock or a folder is at the path.
 */
export function writeWhole(path: string, content: string | Uint8Array, newMode = privateFileMode): void {
  const file = new AtomicFile(path, newMode);
  try {
    file.write(content);
    file.finish();
    file.putInPlace();
  } finally {
    file.discard();
  }
}

/**
 * An output replaces any regular file, but never what can't be made again: a mirror and its log, or its lock.
 *
 * @throws RefusedFileError if one of these is or could be at the path, or something that is not a regular file.
 */
export function assertReplaceable(path: string): void {
  const refuse = (what: string) =>
    new RefusedFileError(`${path} is ${what}. It was left as it is; name another file.`);
  if (path === '') throw new RefusedFileError('The name of the file to write is empty. Name a file.');
  if (/(-(wal|shm|journal)|\.lock)$/.test(path))
    throw refuse('a name that SQLite or docmirror uses beside a mirror');
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile()) throw refuse('not a regular file');
  // SQLite opens it: if Node closed a file that SQLite has locked, this process would lose the lock.
  const kind = explaining(path, () => kindOf(path));
  if (kind === 'mirror' || kind === 'old mirror') throw refuse('a mirror, or a backup of one');
}

/**
 * Makes an empty file that only its owner can read, from its first moment on, whatever the umask is.
 *
 * @throws the file system's error; its code is EEXIST if anything is there, even a symbolic link to nothing.
 */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', privateFileMode));
}

/**
 * Makes a folder and its missing parents; only their owner can look into them.
 *
 * @throws FileWriteError if no folder can be there.
 */
export function makeFolders(folder: string): void {
  tried(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
}

/**
 * Gives a file the owner of another one, if this process can do so. Root can run docmirror by hand, and the usual owner must still
 * be able to use its files.
 */
export function shareOwner(path: string, other: string): void {
  const [own, theirs] = [statSync(path), statSync(other, { throwIfNoEntry: false })];
  if (theirs === undefined || (own.uid === theirs.uid && own.gid === theirs.gid)) return;
  try {
    chownSync(path, theirs.uid, theirs.gid);
  } catch (error) {
    // Only root can give files away.
    if (codeOf(error) !== 'EPERM') throw error;
  }
}

const isUnfinished = /\.[\da-f]{8}\.docmirror-unfinished$/;

/** An unfinished file this old is from a process that was killed. */
const leftoverAgeMs = 24 * 60 * 60 * 1000;

/** The path of a file until it is complete: in the same folder, so that it can be renamed, and unique. */
export function unfinishedPath(path: string): string {
  return `${path}.${randomBytes(4).toString('hex')}.docmirror-unfinished`;
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
  if (existsSync(path)) return false;
  putInPlace(unfinished, path);
  return true;
}

/** Removes an unfinished file and SQLite's files beside it. */
export function removeUnfinished(path: string): void {
  for (const beside of ['', ...besides]) rmSync(`${path}${beside}`, { force: true });
}

/** Removes what killed processes have left in a folder. */
export function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!isUnfinished.test(name) || !existsSync(path)) continue;
    if (Date.now() - statSync(path).mtimeMs > leftoverAgeMs) removeUnfinished(path);
  }
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
