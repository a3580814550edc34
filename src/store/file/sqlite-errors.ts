import { constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, DocmirrorError, type ErrorCode, MirrorFileError } from '../../errors.ts';
import { denial } from './access.ts';
import { hasLog } from './file-mark.ts';

/** What a user can do who can read the mirror's file and not write it. */
export const readersWay =
  'Read permission is enough for a share only: "docmirror share FILE" makes one, and each run does if DOCMIRROR_SHARE is set.';

/** What failures of SQLite or of the file system mean for the user, by the starts of their codes; the first that fits counts. */
const meanings: readonly [codeStart: RegExp, meaning: (path: string) => string, code?: ErrorCode][] = [
  [
    /^SQLITE_(BUSY|LOCKED)/,
    path => `${path} is locked by another program. Try again when it is done.`,
    'database_locked',
  ],
  [
    // Where a disk is full, even a reader can't have the memory that SQLite shares by a file.
    /^(SQLITE_FULL|ENOSPC|SQLITE_IOERR_SHMSIZE)/,
    path => `The disk that holds ${path} is full. Nothing was lost; free some room and run again.`,
    'disk_full',
  ],
  [
    /^SQLITE_NOTADB/,
    path =>
      `${path} is not an SQLite database, or it is damaged. Restore it from a backup, or name another file.`,
  ],
  [
    /^SQLITE_CORRUPT/,
    path =>
      hasLog(path)
        ? `${path} is damaged, or ${path}-wal is not its own. Where it was put there as a copy, move that log away; otherwise restore it from a backup.`
        : `${path} is damaged. Restore it from a backup, or move it away and sync anew.`,
  ],
  [
    /^SQLITE_READONLY/,
    path =>
      `${closedIn(path)} can't be written. Check the permissions of the file and its folder.${wayToRead(path)}`,
  ],
  [
    /^(SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM)/,
    path => `${path} can't be opened. Check the permissions of the file and its folder.${wayToRead(path)}`,
  ],
  [/^SQLITE_IOERR/, path => `Reading or writing ${path} failed. Check the disk.`],
  [
    /^ENOENT/,
    path => `${path} can't be made, or is gone. Check its folder, and that files can be made there.`,
  ],
  [
    /^(EMFILE|ENFILE)/,
    path => `Too many files are open for ${path} to be opened, too. Raise the limit, as with: ulimit -n 1024`,
  ],
  [/^EROFS/, path => `${path} is on a read-only file system.`],
  [
    /^ELOOP/,
    path => `The way to ${path} leads through symbolic links that end nowhere. Name another file.`,
    'settings',
  ],
  [/^ENOTDIR/, path => `The way to ${path} leads through a file. Name another one.`, 'settings'],
  [
    /^ENAMETOOLONG/,
    path => `${path} is too long a name, with what has to lie beside it. Name a shorter one.`,
    'settings',
  ],
  [
    /^(ERR_FS_EISDIR|EISDIR)/,
    path => `A folder lies where ${path}, or a file beside it, has to be. Move it away.`,
  ],
];

/** Turns a failure of SQLite or the file system into an error with a clear line; any other error is passed on as it is. */
export function explainSqliteError(error: unknown, path: string): unknown {
  if (error instanceof DocmirrorError || !(error instanceof Error)) return error;
  if (isLostRollback(error)) {
    const words = `Writing ${path} failed, and nothing was changed. Check that its disk has room and can be written.`;
    return new MirrorFileError(words, { cause: error });
  }
  const given = isOfNoFormat(error) ? 'SQLITE_CORRUPT' : (codeOf(error) ?? codeOf(error.cause));
  const mayBeReadOnly = /^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(given ?? '');
  // SQLite says of a read-only file system now this, now that.
  const code = mayBeReadOnly && denial(dirname(path), constants.W_OK) === 'EROFS' ? 'EROFS' : given;
  const known = meanings.find(([codeStart]) => codeStart.test(code ?? ''));
  if (isOtherShape(error)) {
    const words = `${path} has not the tables that docmirror made: ${error.message}. Restore it from a backup, or move it away and sync anew.`;
    return new MirrorFileError(words, { cause: error });
  }
  if (known === undefined) return error;
  const [, meaning, errorCode = 'mirror_file'] = known;
  return new MirrorFileError(`${meaning(path)} (${code})`, { code: errorCode, cause: error });
}

/** Does some work on a file; its failures are explained as `explainSqliteError` does. */
export function explaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/** Which file it is that this user may not write: the database, or what SQLite left beside it. */
function closedIn(path: string): string {
  const files = [path, `${path}-wal`, `${path}-shm`];
  return files.find(file => existsSync(file) && denial(file, constants.W_OK) !== null) ?? path;
}

/** What to say to a user who can't write: a mirror is in WAL mode, so a reader of it needs write permission, too. */
function wayToRead(path: string): string {
  if (!/^(EACCES|EPERM)$/.test(denial(path, constants.W_OK) ?? '')) return '';
  return ` ${readersWay}`;
}

/** SQLite takes a transaction back by itself where the disk is full or fails; who then rolls back hides that with an error of its own. */
function isLostRollback(error: Error): boolean {
  return error.cause instanceof Error && error.cause.message.startsWith('cannot rollback');
}

/** The header names a format that no SQLite has, which SQLite calls an error like any other. */
function isOfNoFormat(error: Error): boolean {
  return error.message === 'unsupported file format';
}

/** Its shape was looked at when the file was opened: what is missing then was changed, or damaged. */
function isOtherShape(error: Error): boolean {
  return (
    codeOf(error) === 'SQLITE_ERROR' &&
    /^(no such (table|column)|table \S+ has no column)/.test(error.message)
  );
}
