import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { MirrorFileError, OtherShapeError } from '../../errors.ts';
import { fileKey } from './file-identity.ts';

/** So long nothing may lie at the path before what was open counts no longer, in milliseconds. */
const missingMsMax = 5_000;

/** Keeps a file open, and opens it anew when another file has taken its name: a mirror that was restored, say. */
export class Reopening<T extends Disposable> implements Disposable {
  readonly #path: string;
  readonly #open: () => T;
  #key: string | null;
  #current: T | null;
  #missingSinceMs: number | null = null;
  /** Why nothing is open yet; null if something is. */
  otherShape: OtherShapeError | null = null;

  /**
   * A file of another shape can't be opened before somebody has upgraded it, in its place: it is tried again whenever it is asked for.
   *
   * @param open opens what lies at the path now.
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
   * What is open now. While a file is replaced nothing may lie at the path for a moment: that is what was open last.
   *
   * @throws what `open` throws, where what lies there now can't be opened.
   * @throws MirrorFileError where nothing has been there for longer.
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

/** When a file was made or removed in a folder last: what is missing there has been so since then, at the least. */
function changedMs(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
