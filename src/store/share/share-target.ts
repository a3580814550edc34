import { UsageError } from '../../errors.ts';
import { assertReplaceable } from '../file/atomic-file.ts';
import { isSameFile } from '../file/file-identity.ts';
import { fileBehind } from '../file/mirror-path.ts';

/** The place of a share, and the mirror that it is made from. */
export interface SharePlace {
  readonly database: string;
  readonly target: string;
  /** The argument or setting that named the target, for errors. */
  readonly name: string;
}

/**
 * The file that a share replaces. A symbolic link stays, and the file that it points to is replaced.
 *
 * @throws UsageError if no file can be at the target, or it is the mirror itself.
 * @throws RefusedFileError if a mirror, a lock, a key or a folder is there.
 */
export function shareTarget({ database, target, name }: SharePlace): string {
  const path = fileBehind(target, name);
  if (isSameFile(path, fileBehind(database)))
    throw new UsageError(`${name}: ${path} is the mirror itself. Name another file.`);
  assertReplaceable(path);
  return path;
}
