import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { makeFolders } from '../file/folders.ts';
import { mirrorIdOf } from '../file/mirror-identity.ts';
import { manifestBeside } from './manifest.ts';

const backupName = /-(\d{8}T\d{6}Z)\.sqlite$/;

/** The path of a backup's checkpoint. */
export function checkpointBeside(path: string): string {
  return `${path}.checkpoint`;
}

/**
 * The path of a new backup in a folder of backups: the mirror's name and the first free time from now on. Another mirror of the
 * same name can be backed up there in the same second. The folder is made if there is none.
 *
 * @param database the mirror, as the user named it.
 * @throws UsageError if something else than a folder is there.
 */
export function nameInFolder(folder: string, database: string, now: Date): string {
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new UsageError(`${folder} is not a folder. With --keep the backups go into a folder.`);
  }
  makeFolders('DEST', folder);
  const name = basename(database).replace(/\.(sqlite3?|db)$/i, '');
  for (let atMs = now.getTime(); ; atMs += 1_000) {
    const stamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
    const path = join(folder, `${name}-${stamp.replaceAll(/[-:]/g, '')}.sqlite`);
    if (!existsSync(path)) return path;
  }
}

/** The names of the backups in a folder, the newest first: files with names as `--keep` gives them. */
export function backupsIn(folder: string): string[] {
  const timeOf = (name: string) => backupName.exec(name)?.[1] ?? '';
  return readdirSync(folder)
    .filter(name => backupName.test(name))
    .sort((a, b) => timeOf(b).localeCompare(timeOf(a)) || a.localeCompare(b));
}

/**
 * Removes the oldest backups of a mirror from a folder until `keep` are left. It never removes the newest one made. Other files in
 * the folder, including backups of other mirrors, are not touched.
 *
 * @returns the names that were removed.
 */
export function rotate(folder: string, newest: string, keep: number): string[] {
  const mirrorId = mirrorIdOf(newest);
  const others = backupsIn(folder)
    .filter(name => join(folder, name) !== newest)
    .filter(name => mirrorIdOf(join(folder, name)) === mirrorId);
  const old = others.slice(keep - 1);
  for (const name of old) {
    const path = join(folder, name);
    for (const file of [path, checkpointBeside(path), manifestBeside(path)]) rmSync(file, { force: true });
  }
  return old;
}
