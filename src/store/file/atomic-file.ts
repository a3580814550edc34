import { closeSync, fsyncSync, lstatSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, DocmirrorError, RefusedFileError } from '../../errors.ts';
import { assertNotBeside } from './beside.ts';
import { firstBytes } from './first-bytes.ts';
import { realPath } from './mirror-path.ts';
import { privateFileMode } from './private-file.ts';
import { putInPlace, removeLeftovers, unfinishedPath } from './unfinished.ts';

/** What is written is gathered up to this size, in bytes. */
const bufferBytes = 1024 * 1024;

const meanings: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EROFS: 'it is on a read-only file system',
};

/** A file can't be written. That is no fault of docmirror: its message is one line. */
export class FileWriteError extends DocmirrorError {
  /** Why, as the system says it: ENOENT and the like. */
  readonly reason: string;

  /** True where another path might do; false where it is the disk that can't be written. */
  get isOfPath(): boolean {
    return !(this.reason in meanings) && this.reason !== 'EIO';
  }

  constructor(path: string, cause: unknown) {
    const reason = codeOf(cause) ?? 'no reason given';
    const words = `${path} can't be written: ${meanings[reason] ?? reason}. Nothing was put in its place.`;
    super(reason === 'ENOSPC' ? 'disk_full' : 'internal', words, { cause });
    this.reason = reason;
  }
}

/** What a file that is written in one step may take the place of, besides an empty one. */
export interface Predecessor {
  /** What such a file is, with its article: "a report". */
  readonly what: string;
  /** How it begins; its first bytes are read as Latin-1. */
  readonly beginning: RegExp;
}

/** Bytes by which a file is known. */
const beginningBytes = 4096;

/**
 * A file that is seen under its name only when it is whole: it is written beside it, and renamed. Only its owner can read it.
 * All its methods throw a FileWriteError where the file system fails.
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
   * Begins the file, in a folder that is there.
   *
   * @throws RefusedFileError where another file than an earlier one of its kind lies there; it is left as it is.
   * @throws UsageError where it is a symbolic link that leads to no file.
   */
  constructor(path: string, predecessor: Predecessor) {
    this.path = path;
    const isLink = this.#tried(() => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
    if (isLink) this.path = realPath(path, 'what is to be written');
    this.#tried(() => assertReplaceable(this.path, predecessor));
    this.#unfinishedPath = unfinishedPath(this.path);
    this.#file = this.#tried(() => {
      removeLeftovers(dirname(resolve(this.path)));
      return openSync(this.#unfinishedPath, 'wx', privateFileMode);
    });
  }

  /** How much was written so far. */
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

  /** Waits until the disk holds all that was written. */
  finish(): void {
    this.#flush();
    this.#tried(() => fsyncSync(this.#file));
    this.#close();
  }

  /** Gives the finished file its name. */
  putInPlace(): void {
    this.#tried(() => putInPlace(this.#unfinishedPath, this.path));
  }

  /** Removes what was written, unless it is in its place already. */
  discard(): void {
    this.#close();
    rmSync(this.#unfinishedPath, { force: true });
  }

  #flush(): void {
    const chunk = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#tried(() => writeFileSync(this.#file, chunk));
    this.#chunks = [];
    this.#waiting = 0;
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }

  #tried<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof RefusedFileError) throw error;
      throw new FileWriteError(this.path, error);
    }
  }
}

/**
 * Writes a file in one step: who opens it finds the old text or the new one, never a part of either.
 *
 * @throws FileWriteError where it can't be written; what was there still stands.
 * @throws RefusedFileError where another file lies there; it is left as it is.
 */
export function writeWhole(path: string, content: string | Uint8Array, predecessor: Predecessor): void {
  const file = new AtomicFile(path, predecessor);
  try {
    file.write(content);
    file.finish();
    file.putInPlace();
  } finally {
    file.discard();
  }
}

/**
 * The name alone says little: a mirror, a key or somebody's notes may lie there.
 *
 * @throws RefusedFileError where another file lies there than one of its kind.
 */
export function assertReplaceable(path: string, { what, beginning }: Predecessor): void {
  assertNotBeside(path);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.isFile() && stat.size === 0)) return;
  if (stat.isFile() && beginning.test(firstBytes(path, beginningBytes).toString('latin1'))) return;
  // Told before anything is written: of several files, none is put in its place then.
  if (stat.isDirectory())
    throw new RefusedFileError(`${path} is a folder. Move it away, or name another file.`);
  throw new RefusedFileError(
    `${path} is not ${what} that docmirror made. It was left as it is; move it away, or name another file.`,
  );
}
