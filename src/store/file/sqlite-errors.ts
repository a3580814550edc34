import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, DocmirrorError, type ErrorCode, MirrorFileError } from '../../errors.ts';

/** How a user without write permission on the mirror can get at the records. */
export const readersWay =
  'A share needs only read permission: "docmirror share FILE" makes one, and each run does if DOCMIRROR_SHARE is set.';

/** The meanings of failures of SQLite or of the file system for the user, by the starts of their codes; the first match counts. */
const meanings: readonly [codeStart: RegExp, meaning: (path: string) => string, code?: ErrorCode][] = [
  [
    /^SQLITE_(BUSY|LOCKED)/,
    path => `${path} is locked by another program. Try again when it is done.`,
    'database_locked',
  ],
  [
    // If a disk is full, even a reader can't get the memory that SQLite shares by a file.
    /^(SQLITE_FULL|ENOSPC|SQLITE_IOERR_SHMSIZE)/,
    path => `The disk of ${path} is full. Nothing was lost; free some room and run again.`,
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
      `${path} is damaged. Restore it from a backup, or move it away, with the files beside it that begin with its name, and sync again.`,
  ],
  [
    /^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM)/,
    path =>
      `${path} can't be opened with this user's permissions. A mirror needs write permission for the file and its folder, even to read it. ${readersWay}`,
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
    path => `${path} is too long a name, because files beside it need longer ones. Name a shorter one.`,
    'settings',
  ],
  [
    /^(ERR_FS_EISDIR|EISDIR)/,
    path => `A folder has the name of ${path}, or of a file beside it. Move it away.`,
  ],
];

/** Turns a failure of SQLite or the file system into an error with a clear line; returns any other error unchanged. */
export function explainSqliteError(error: unknown, path: string): unknown {
  if (error instanceof DocmirrorError || !(error instanceof Error)) return error;
  if (isLostRollback(error)) {
    const words = `Writing ${path} failed, and nothing was changed. Check that its disk has room and can be written.`;
    return new MirrorFileError(words, { cause: error });
  }
  const given = isOfNoFormat(error) ? 'SQLITE_CORRUPT' : (codeOf(error) ?? codeOf(error.cause));
  // SQLite has several codes for a read-only file system.
  const mayBeReadOnly = /^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(given ?? '');
  const code = mayBeReadOnly && isOnReadOnlySystem(path) ? 'EROFS' : given;
  const known = meanings.find(([codeStart]) => codeStart.test(code ?? ''));
  if (isOtherShape(error)) {
    const words = `${path} does not have the tables that docmirror made: ${error.message}. Restore it from a backup, or move it away and sync again.`;
    return new MirrorFileError(words, { cause: error });
  }
  if (known === undefined) return error;
  const [, meaning, errorCode = 'mirror_file'] = known;
  return new MirrorFileError(`${meaning(path)} (${code})`, { code: errorCode, cause: error });
}

/** Does some work on a file; failures are explained as in `explainSqliteError`. */
export function explaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

function isOnReadOnlySystem(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === 'EROFS';
  }
}

/**
 * If the disk is full or fails, SQLite rolls a transaction back by itself; a second rollback then hides that with an error of its
 * own.
 */
function isLostRollback(error: Error): boolean {
  return error.cause instanceof Error && error.cause.message.startsWith('cannot rollback');
}

/** The header names an unknown format; SQLite has no error code of its own for that. */
function isOfNoFormat(error: Error): boolean {
  return error.message === 'unsupported file format';
}

/** The shape was checked when the file was opened, so anything missing now was changed or damaged. */
function isOtherShape(error: Error): boolean {
  return (
    codeOf(error) === 'SQLITE_ERROR' &&
    /^(no such (table|column)|table \S+ has no column)/.test(error.message)
  );
}
