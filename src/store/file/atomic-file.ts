import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, DocmirrorError, RefusedFileError } from '../../errors.ts';
import { type FileKind, kindOf } from './file-kind.ts';
import { realPath } from './mirror-path.ts';
import { privateFileMode } from './private-file.ts';
import { explaining } from './sqlite-errors.ts';
import { putInPlace, removeLeftovers, unfinishedPath } from './unfinished.ts';

/** The size of the write buffer, in bytes. */
const bufferBytes = 1024 * 1024;

const meanings: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EROFS: 'it is on a read-only file system',
};

/** A file can't be written. This is no fault of docmirror: its message is one line. */
export class FileWriteError extends DocmirrorError {
  /** The system's error code, for example ENOENT. */
  readonly reason: string;

  /** True if another path might work; false if the disk can't be written. */
  get isOfPath(): boolean {
    return !(this.reason in meanings) && this.reason !== 'EIO';
  }

  constructor(path: string, cause: unknown) {
    const reason = codeOf(cause) ?? 'no reason given';
    const words = `${path} can't be written: ${meanings[reason] ?? reason}. Nothing was put in its place.`;
    super(reason === 'ENOSPC' ? 'disk_full' : 'output_failed', words, { cause });
    this.reason = reason;
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
   * Begins the file, in a folder that exists.
   *
   * @param newMode its mode if there is no file yet.
   * @throws RefusedFileError if a mirror, a lock, a key or a folder is at the path.
   * @throws UsageError if it is a symbolic link that leads to no file.
   */
  constructor(path: string, newMode = privateFileMode) {
    const isLink = tried(path, () => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
    this.path = isLink ? realPath(path, 'the file to write') : path;
    const mode = tried(this.path, () => {
      assertReplaceable(this.path);
      return statSync(this.path, { throwIfNoEntry: false })?.mode ?? newMode;
    });
    this.#unfinishedPath = unfinishedPath(this.path);
    this.#file = tried(this.path, () => {
      removeLeftovers(dirname(resolve(this.path)));
      return openSync(this.#unfinishedPath, 'wx', privateFileMode);
    });
    tried(this.path, () => fchmodSync(this.#file, mode & 0o777));
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
    if (error instanceof DocmirrorError) throw error;
    throw new FileWriteError(path, error);
  }
}

/**
 * Writes a file in one step: a reader finds the old text or the new one, never a part of either.
 *
 * @param newMode its mode if there is no file yet; by default only its owner can read it.
 * @throws FileWriteError if it can't be written; the old text is still there.
 * @throws RefusedFileError if a mirror, a lock, a key or a folder is at the path.
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
 * An output replaces any regular file, but never what can't be made again: a mirror and its log, its lock, a private key.
 *
 * @throws RefusedFileError if one of these is or could be at the path, or something that is not a regular file.
 */
export function assertReplaceable(path: string): void {
  const refuse = (what: string) =>
    new RefusedFileError(`${path} is ${what}. It was left as it is; name another file.`);
  if (/-(wal|shm|journal)$/.test(path)) throw refuse('a name that SQLite uses beside a database');
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isDirectory()) throw refuse('a folder');
  if (!stat.isFile()) throw refuse('no regular file');
  const kind = kindOrShare(path);
  if (kind === 'mirror' || kind === 'old mirror') throw refuse('a mirror, or a backup of one');
  if (kind === 'lock') throw refuse('the lock of a mirror');
  if (kind === 'no database' && holdsKey(path)) throw refuse('a private key');
}

/** A truncated share can't be opened, but it can be made again. */
function kindOrShare(path: string): FileKind {
  try {
    return explaining(path, () => kindOf(path));
  } catch (error) {
    if (/^.{68}doch/s.test(beginningOf(path, 72))) return 'share';
    throw error;
  }
}

/** Some programs write parameters or remarks before a key. */
function holdsKey(path: string): boolean {
  return /^-----BEGIN [A-Z ]*PRIVATE KEY-----/m.test(beginningOf(path, 16 * 1024));
}

function beginningOf(path: string, length: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
