import { accessSync, constants } from 'node:fs';
import { codeOf } from '../../errors.ts';

/**
 * Whether this user may read or write a file or a folder; false where there is none.
 *
 * @param mode `constants.R_OK` or `W_OK` of `node:fs`.
 */
export function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Whether a file is there that this user may not read: asked in one look, for it may vanish between two. */
export function isClosedToReaders(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes(codeOf(error) ?? '');
  }
}
