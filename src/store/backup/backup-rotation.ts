import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { makeFolders } from '../file/folders.ts';
import { mirrorIdOf } from '../file/mirror-identity.ts';

const backupName = /^docmirror-\d{8}T\d{6}Z\.sqlite$/;

/** Where the checkpoint of a backup lies. */
export function checkpointBeside(path: string): string {
  return `${path}.checkpoint`;
}

/**
 * Where a backup made now goes in a folder of backups: the first name from now on that is free, for another mirror may be backed up
 * there in the same second. The folder is made where there is none.
 *
 * @throws UsageError where there is something else than a folder.
 */
export function nameInFolder(folder: string, now: Date): string {
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new UsageError(`${folder} is no folder. With --keep the backups go into a folder.`);
  }
  makeFolders('DEST', folder);
  for (let atMs = now.getTime(); ; atMs += 1_000) {
    const stamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
    const path = join(folder, `docmirror-${stamp.replaceAll(/[-:]/g, '')}.sqlite`);
    if (!existsSync(path)) return path;
  }
}

/**
 * Removes the oldest backups of a mirror from a folder until as many are left as are to be kept, never the newest one made. Other
 * files in the folder, backups of other mirrors among them, are not touched.
 *
 * @returns the names that were removed.
 */
export function rotate(folder: string, newest: string, keep: number): string[] {
  const mirrorId = mirrorIdOf(newest);
  const others = readdirSync(folder)
    .filter(name => backupName.test(name) && join(folder, name) !== newest)
    .filter(name => mirrorIdOf(join(folder, name)) === mirrorId)
    .sort()
    .reverse();
  const old = others.slice(keep - 1);
  for (const name of old) {
    rmSync(join(folder, name), { force: true });
    rmSync(checkpointBeside(join(folder, name)), { force: true });
  }
  return old;
}
