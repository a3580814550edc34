import { type BigIntStats, statSync } from 'node:fs';
import { MirrorFileError } from '../../errors.ts';

/** The device and the inode of the file that a path leads to now; null if there is none. */
export function fileKey(path: string): string | null {
  const stat = look(path);
  return stat === undefined ? null : `${stat.dev}-${stat.ino}`;
}

/** True if both paths lead to one file. */
export function isSameFile(path: string, other: string): boolean {
  const key = fileKey(path);
  return key !== null && key === fileKey(other);
}

/**
 * How a mirror's file and its write-ahead log look from outside: inode, size, times. As long as this text is the same, nobody has
 * written to the mirror.
 */
export function markOf(file: string): string {
  return [file, `${file}-wal`]
    .map(path => {
      const stat = look(path);
      // A reader creates an empty log.
      if (stat === undefined || stat.size === 0n) return 'none';
      return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join('-');
    })
    .join(' ');
}

function look(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** A file that this process has open, and that others find by its name. */
export class FilePlace {
  readonly #path: string;
  readonly #key: string | null;

  constructor(path: string) {
    this.#path = path;
    this.#key = fileKey(path);
  }

  /** False if the file was moved away, removed or replaced since. */
  get isKept(): boolean {
    return this.#key === fileKey(this.#path);
  }

  /**
   * @param words what the file is, and the danger if the run went on.
   * @throws MirrorFileError if the file was moved away, removed or replaced.
   */
  assertKept(words: { readonly is: string; readonly danger: string }): void {
    if (this.isKept) return;
    throw new MirrorFileError(
      `${this.#path}, ${words.is} of this run, was moved away, removed or replaced, so ${words.danger}. This run writes nothing more. Run again, and leave that file in its place.`,
    );
  }
}
