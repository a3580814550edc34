import { codeOf, MirrorFileError } from '../../errors.ts';

/** Reads data that another program can have damaged; null for text that is no JSON, or JSON of another kind. */
export function tryToRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const isSpoilt = [MirrorFileError, SyntaxError, TypeError, RangeError].some(
      kind => error instanceof kind,
    );
    if (!isSpoilt || codeOf(error)?.startsWith('SQLITE_')) throw error;
    return null;
  }
}
