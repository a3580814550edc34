import { UsageError } from '../errors.ts';
import { FileWriteError, type Predecessor, writeWhole } from '../store/file/atomic-file.ts';

/**
 * Writes, whole or not at all, the file that a flag or an argument names.
 *
 * @throws UsageError that names the flag or argument, where another path might do.
 * @throws FileWriteError where the disk fails.
 * @throws RefusedFileError where another file lies there; it is left as it is.
 */
export function writeNamed(name: string, path: string, text: string, predecessor: Predecessor): void {
  assertNamed(name, path);
  try {
    writeWhole(path, text, predecessor);
  } catch (error) {
    if (!(error instanceof FileWriteError && error.isOfPath)) throw error;
    throw unwritable(name, path, error);
  }
}

/** @throws UsageError where a flag or an argument names no file. */
export function assertNamed(name: string, path: string): void {
  if (path === '') throw new UsageError(`${name}: it is empty. Name a file.`);
}

/** What is said of a file that can't be written, where another path might do. */
export function unwritable(name: string, path: string, cause: FileWriteError): UsageError {
  return new UsageError(`${name}: ${path} can't be written (${cause.reason}).`, { cause });
}
