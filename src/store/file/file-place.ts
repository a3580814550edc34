import { MirrorFileError } from '../../errors.ts';
import { fileKey } from './connections.ts';

/** A file that this process has open, and that others look for by its name. */
export class FilePlace {
  readonly #path: string;
  /** Null where it has no name. */
  readonly #key: string | null;

  constructor(path: string) {
    this.#path = path;
    this.#key = fileKey(path);
  }

  /** False where it was moved away, removed or replaced since. */
  get isKept(): boolean {
    return this.#key === fileKey(this.#path);
  }

  /**
   * @param words what the file is, and what would come of going on.
   * @throws MirrorFileError where it was moved away, removed or replaced.
   */
  assertKept(words: { readonly is: string; readonly danger: string }): void {
    if (this.isKept) return;
    throw new MirrorFileError(
      `${this.#path}, ${words.is} of this run, was moved away, removed or replaced, so ${words.danger}. This run writes nothing more. Run again, and leave that file where it is.`,
    );
  }
}
