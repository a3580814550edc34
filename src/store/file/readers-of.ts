import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The users that the modes of a file and of its parent folders allow to read the file. */
export type Readers = 'everybody' | 'its group' | 'its owner alone';

/** The mode of a file, and the first folder that keeps others out; null if no folder does. */
export interface Readable {
  readonly readers: Readers;
  /** Four octal digits. */
  readonly mode: string;
  readonly closedFolder: string | null;
}

/**
 * Says who could read a file by its mode. It ignores access lists and the names of groups.
 *
 * @param fallbackMode the mode that the file will have if there is none yet.
 */
export function readersOf(path: string, fallbackMode: number): Readable {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? fallbackMode) & 0o777;
  const folders = foldersAbove(resolve(path)).map(folder => ({ folder, mode: statSync(folder).mode }));
  const closed = folders.find(each => (each.mode & 0o001) === 0);
  const isOpenToGroup = folders.every(each => (each.mode & 0o011) !== 0);
  const readers: Readers =
    mode & 0o004 && closed === undefined
      ? 'everybody'
      : mode & 0o044 && isOpenToGroup
        ? 'its group'
        : 'its owner alone';
  return { readers, mode: mode.toString(8).padStart(4, '0'), closedFolder: closed?.folder ?? null };
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}
