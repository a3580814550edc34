import { codeOf, MirrorFileError } from '../../errors.ts';

/** A value that was read, or why it could not be read. */
export type Readable<T> = { readonly value: T } | { readonly problem: string };

/**
 * Reads data that another program can have damaged. It returns the problem of text that is no JSON, or JSON of another kind, and
 * does not throw.
 */
export function tryToRead<T>(read: () => T): Readable<T> {
  try {
    return { value: read() };
  } catch (error) {
    const isSpoilt =
      error instanceof MirrorFileError ||
      error instanceof SyntaxError ||
      error instanceof TypeError ||
      error instanceof RangeError;
    if (!isSpoilt || codeOf(error)?.startsWith('SQLITE_')) throw error;
    return { problem: error.message };
  }
}
