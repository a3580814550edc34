import { codeOf, MirrorFileError } from '../../errors.ts';

/** Reads data that another program can have damaged. It returns the problem of text that is no JSON, or JSON of another kind. */
export function tryToRead<T>(read: () => T): { readonly value: T } | { readonly problem: string } {
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
