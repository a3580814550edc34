import { dirname } from 'node:path';
import { codeOf, DocmirrorError, type ErrorCode, MirrorFileError } from '../../errors.ts';
import type { Sqlite } from '../tables/ask.ts';
import { canBeNoLocks, tryLocks } from './lock-trial.ts';

const restoreIt =
  'Restore it from a backup, or move it away, with the files beside it that begin with its name, and sync again.';

/** The meanings of failures of SQLite or of the file system, by the starts of their codes; the words follow the file's path. */
const meanings: readonly [codeStart: RegExp, meaning: string, code?: ErrorCode][] = [
  [/^SQLITE_(BUSY|LOCKED)/, 'is locked by another program. Try again when it is done.', 'database_locked'],
  // If a disk is full, even a reader can't get the memory that SQLite shares by a file.
  [
    /^(SQLITE_FULL|ENOSPC|SQLITE_IOERR_SHMSIZE)/,
    'is on a disk that is full. What the mirror had is still there; free some room and run again.',
    'disk_full',
  ],
  [
    /^(SQLITE_IOERR_(WRITE|TRUNCATE)|EFBIG|EDQUOT)/,
    'could not be written: a quota or the limit of the size of files (ulimit -f) is reached, or the disk is bad. What the mirror had is still there; make room and run again.',
    'no_room',
  ],
  [/^SQLITE_(CORRUPT|NOTADB)/, `is damaged. ${restoreIt}`],
  [
    /^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM)/,
    `can't be opened with this user's permissions. A mirror needs write permission for the file and its folder, on a file system that can be written, even to read it. A share needs only read permission: "docmirror share FILE" makes one, and each run does if DOCMIRROR_SHARE is set.`,
  ],
  [
    /^(EACCES|EPERM|EROFS)/,
    "can't be used with this user's permissions. Correct them, or name another file.",
  ],
  [
    /^SQLITE_IOERR_GETTEMPPATH/,
    'needs temporary files of SQLite, and neither its folder nor /tmp can be written. Make one of them writable, or name a folder in SQLITE_TMPDIR.',
  ],
  [
    /^(SQLITE_IOERR|EIO|ENOENT|ENOTDIR|EISDIR|ERR_FS_EISDIR|ENAMETOOLONG|ELOOP|EMFILE|ENFILE)/,
    "can't be read or written. Check the disk, and the folder.",
  ],
];

/** Turns a failure of SQLite or the file system into an error with a clear line; returns any other error unchanged. */
export function explainSqliteError(error: unknown, path: string): unknown {
  if (error instanceof DocmirrorError || !(error instanceof Error)) return error;
  // Drizzle wraps the errors of SQLite.
  const cause = codeOf(error) === undefined && error.cause instanceof Error ? error.cause : error;
  const code = codeOf(cause) ?? '';
  // The shape was checked when the file was opened, so a missing table or column was changed or damaged since.
  if (code === 'SQLITE_ERROR' && /^no such (table|column|index)|has no column/.test(cause.message))
    return new MirrorFileError(
      `${path} does not have the tables that docmirror made: ${cause.message}. ${restoreIt}`,
      { cause: error },
    );
  const known = meanings.find(([codeStart]) => codeStart.test(code));
  if (known === undefined) return error;
  // An error of the file system names its own file, which need not be the mirror.
  const file = 'path' in cause && typeof cause.path === 'string' ? cause.path : path;
  return new MirrorFileError(`${file} ${known[1]} (${code})`, {
    cause: error,
    code: known[2] ?? 'mirror_file',
  });
}

/** Does some work on a file; failures are explained as in `explainSqliteError`, and those of a file system without locks as that. */
export function explaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (canBeNoLocks(error)) tryLocks(dirname(path));
    throw explainSqliteError(error, path);
  }
}

/** Checks a file's trees and indexes, in about 1.5 s a million rows. Throws a MirrorFileError if it is damaged. */
export function assertWhole(path: string, sqlite: Sqlite): void {
  const damage = String(sqlite.pragma('integrity_check(1)', { simple: true }) ?? 'ok');
  if (damage !== 'ok')
    throw new MirrorFileError(`${path} is damaged (${damage.replaceAll(/\s+/g, ' ')}). ${restoreIt}`);
}
