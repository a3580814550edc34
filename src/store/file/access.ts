import { accessSync } from 'node:fs';

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
