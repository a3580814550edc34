import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { DocmirrorError } from '../errors.ts';
import { removeLeftovers, unfinishedPath } from '../store/file/unfinished.ts';

/** What is written is gathered up to this size, in bytes. */
const bufferBytes = 1024 * 1024;

/** A file that is seen under its name only when it is whole: it is written beside it, and renamed. */
export class ExportFile {
  readonly path: string;
  readonly #unfinishedPath: string;
  readonly #file: number;
  #chunks: Buffer[] = [];
  #waiting = 0;
  #bytes = 0;
  #isOpen = true;

  /** @param mode who may read it, in the manner of chmod. */
  constructor(path: string, mode: number) {
    this.path = path;
    this.#unfinishedPath = unfinishedPath(path);
    this.#file = explained(path, () => {
      mkdirSync(dirname(path), { recursive: true });
      removeLeftovers(dirname(path));
      return openSync(this.#unfinishedPath, 'wx', mode);
    });
  }

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
    explained(this.path, () => fsyncSync(this.#file));
    this.#close();
  }

  putInPlace(): void {
    explained(this.path, () => renameSync(this.#unfinishedPath, this.path));
  }

  /** Removes what was written, unless it is in its place already. */
  discard(): void {
    this.#close();
    rmSync(this.#unfinishedPath, { force: true });
  }

  #flush(): void {
    const chunk = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    explained(this.path, () => {
      for (let at = 0; at < chunk.length; ) at += writeSync(this.#file, chunk, at);
    });
    this.#chunks = [];
    this.#waiting = 0;
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}

/** An export that can't be written is no fault of docmirror: its message is one line. */
class ExportFileError extends DocmirrorError {}

function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given';
    const words = code === 'ENOSPC' ? 'the disk is full' : code;
    throw new ExportFileError(
      code === 'ENOSPC' ? 'disk_full' : 'internal',
      `${path} can't be written: ${words}. Nothing was put in its place.`,
      { cause: error },
    );
  }
}
