import { UsageError } from '../errors.ts';
import { FileWriteError, writeWhole } from '../store/file/atomic-file.ts';

/**
 * Writes, whole or not at all, the file that a flag or an argument names.
 *
 * @throws UsageError that names the flag or argument, if another path might work.
 * @throws FileWriteError if the disk fails.
 * @throws RefusedFileError if a mirror, a lock, a key or a folder is at the path.
 */
export function writeNamed(name: string, path: string, text: string): void {
  assertNamed(name, path);
  naming(name, path, () => writeWhole(path, text));
}

/** Calls a function that writes the file that a flag or an argument names; the errors are those of `writeNamed`. */
export function naming<T>(name: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FileWriteError && error.isOfPath)) throw error;
    throw unwritable(name, path, error);
  }
}

/** @throws UsageError if a flag or an argument names no file. */
export function assertNamed(name: string, path: string): void {
  if (path === '') throw new UsageError(`${name}: it is empty. Name a file.`);
}

/** The message about a file that can't be written, if another path could work. */
export function unwritable(name: string, path: string, cause: FileWriteError): UsageError {
  return new UsageError(`${name}: ${path} can't be written (${cause.reason}).`, { cause });
}
