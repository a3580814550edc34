import { accessSync } from 'node:fs';
import { codeOf } from '../../errors.ts';

/**
 * Why this user may not read or write a file or a folder, as the system says it, ENOENT and the like; null where they may.
 *
 * @param mode `constants.R_OK` or `W_OK` of `node:fs`.
 */
export function denial(path: string, mode: number): string | null {
  try {
    accessSync(path, mode);
    return null;
  } catch (error) {
    return codeOf(error) ?? 'no reason given';
  }
}
