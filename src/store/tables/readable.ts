import { codeOf, MirrorFileError } from '../../errors.ts';

/** What a reading came to, or why it could not be made. */
export type Readable<T> = { readonly value: T } | { readonly problem: string };

/** Reads what others may have spoilt: text that is no JSON, or JSON of another kind, is told in words and not thrown. */
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
