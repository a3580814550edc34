import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { MirrorFileError, OtherShapeError } from '../../errors.ts';
import { fileKey } from './file-identity.ts';

/** How long nothing can be at the path before the open file counts as gone, in milliseconds. */
const missingMsMax = 5_000;

/** Keeps a file open, and opens it again if another file has taken its name, for example a restored mirror. */
export class Reopening<T extends Disposable> implements Disposable {
  readonly #path: string;
  readonly #open: () => T;
  #key: string | null;
  #current: T | null;
  #missingSinceMs: number | null = null;
  /** Why nothing is open yet; null if something is. */
  otherShape: OtherShapeError | null = null;

  /**
   * A file of another shape can't be opened until it is upgraded in place, so each use tries again.
   *
   * @param open opens the file at the path.
   * @throws what `open` throws for any other reason.
   */
  constructor(path: string, open: () => T) {
    this.#path = path;
    this.#open = open;
    this.#key = fileKey(path);
    try {
      this.#current = open();
    } catch (error) {
      if (!(error instanceof OtherShapeError)) throw error;
      this.#current = null;
      this.otherShape = error;
    }
  }

  /**
   * The open file. While a file is being replaced, the path can be empty for a moment: then it is the last one.
   *
   * @throws what `open` throws, if the file at the path can't be opened.
   * @throws MirrorFileError if the path has been empty for longer.
   */
  current(): T {
    const key = fileKey(this.#path);
    this.#missingSinceMs = key === null ? (this.#missingSinceMs ?? changedMs(dirname(this.#path))) : null;
    if (Date.now() - (this.#missingSinceMs ?? Date.now()) > missingMsMax)
      throw new MirrorFileError(
        `There is no mirror at ${this.#path} any more. Put it back, or make it again.`,
      );
    if (this.#current === null || (key !== null && key !== this.#key)) {
      const opened = this.#open();
      this.#current?.[Symbol.dispose]();
      this.#current = opened;
      this.#key = key;
    }
    return this.#current;
  }

  [Symbol.dispose](): void {
    this.#current?.[Symbol.dispose]();
  }
}

/** When a file was last made or removed in a folder: a file that is missing there has been missing since then or longer. */
function changedMs(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
