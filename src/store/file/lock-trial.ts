import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { attempt, codeOf, RefusedFileError } from '../../errors.ts';
import { privateFileMode } from './rights.ts';
import { ending, removeDatabase } from './unfinished.ts';

/** How SQLite calls a lock that a file system refuses: the first one is also that of a lock which another process has. */
const refusedLock = /^SQLITE_(BUSY|PERM|IOERR_\w*LOCK)$/;

/** True if an error can come from a file system without locks. */
export function canBeNoLocks(error: unknown): boolean {
  return refusedLock.test(codeOf(error) ?? '');
}

/** Tries a lock on a fresh file in a folder. Throws a RefusedFileError if locks do not work there, but not if no file can be made. */
export function tryLocks(folder: string): void {
  const path = join(folder, `${randomBytes(4).toString('hex')}${ending}`);
  try {
    closeSync(openSync(path, 'wx', privateFileMode));
  } catch {
    return;
  }
  try {
    const sqlite = new Database(path, { timeout: 0 });
    try {
      sqlite.exec('BEGIN EXCLUSIVE; ROLLBACK');
    } finally {
      sqlite.close();
    }
  } catch (error) {
    if (!canBeNoLocks(error)) return;
    throw new RefusedFileError(
      `The folder ${resolve(folder)} is on a file system without working locks (${codeOf(error)}), so nothing there is safe from two programs that write at once. Use a local disk, or mount the file system with locks.`,
    );
  } finally {
    removeDatabase(path);
  }
}

/** @throws RefusedFileError if a mirror's file is a mount point by itself: others would have its log and its lock in another folder. */
export function assertNoMount(file: string): void {
  const path = attempt(() => realpathSync(file));
  const mounts = attempt(() => readFileSync('/proc/self/mountinfo', 'utf8'));
  // There is no file yet, or the system has no such list.
  if (path === null || mounts === null) return;
  const unescaped = (text: string) =>
    text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  // Bytes beyond ASCII are not escaped.
  const isMount = mounts.split('\n').some(line => unescaped(line.split(' ')[4] ?? '') === path);
  if (!isMount) return;
  throw new RefusedFileError(
    `${file} is mounted as a single file, so a run that sees it under another path has another lock and another log. Mount the folder that contains it: ${dirname(path)}`,
  );
}
