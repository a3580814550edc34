import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, UsageError } from '../../errors.ts';
import { FileWriteError } from './atomic-file.ts';
import { privateFolderMode } from './private-file.ts';

/**
 * Makes a folder and its missing parents; only their owner can look into them. It does not use Node's recursive `mkdir`, which
 * never ends if the system refuses a folder and reports a missing parent, as /proc does.
 *
 * @param name the flag or setting that gave the path, for the error.
 * @throws UsageError if no folder can be there.
 * @throws FileWriteError if the disk fails.
 */
export function makeFolders(name: string, folder: string): void {
  try {
    makeMissing(folder);
  } catch (error) {
    const fault = new FileWriteError(folder, error);
    if (!fault.isOfPath) throw fault;
    throw new UsageError(`${name}: the folder ${folder} can't be made (${fault.reason}). Name another one.`, {
      cause: error,
    });
  }
}

function makeMissing(folder: string): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeMissing(above);
  try {
    mkdirSync(folder, { mode: privateFolderMode });
  } catch (error) {
    // Another process might have made it just now.
    if (codeOf(error) !== 'EEXIST' || !isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
