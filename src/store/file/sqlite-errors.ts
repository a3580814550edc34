import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, DocmirrorError, type ErrorCode, MirrorFileError } from '../../errors.ts';

/** How a user without write permission on the mirror can get at the records. */
export const readersWay =
  'A share needs only read permission: "docmirror share FILE" makes one, and each run does if DOCMIRROR_SHARE is set.';

const restoreIt =
  'Restore it from a backup, or move it away, with the files beside it that begin with its name, and sync again.';

/** The meanings of failures of SQLite or of the file system, by the starts of their codes; the words follow the file's path. */
const meanings: readonly [codeStart: RegExp, meaning: string, code?: ErrorCode][] = [
  [/^SQLITE_(BUSY|LOCKED)/, 'is locked by another program. Try again when it is done.', 'database_locked'],
  // If a disk is full, even a reader can't get the memory that SQLite shares by a file.
  [
    /^(SQLITE_FULL|ENOSPC|SQLITE_IOERR_SHMSIZE)/,
    'is on a disk that is full. Nothing was lost; free some room and run again.',
    'disk_full',
  ],
  [/^SQLITE_(CORRUPT|NOTADB)/, `is damaged. ${restoreIt}`],
  [
    /^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM)/,
    `can't be opened with this user's permissions. A mirror needs write permission for the file and its folder, even to read it. ${readersWay}`,
  ],
  [/^EROFS/, 'is on a read-only file system.'],
  [
    /^(SQLITE_IOERR|EIO|ENOENT|ENOTDIR|EISDIR|ERR_FS_EISDIR|ENAMETOOLONG|ELOOP|EMFILE|ENFILE)/,
    "can't be read or written. Check the disk, and the folder.",
  ],
];

/** Turns a failure of SQLite or the file system into an error with a clear line; returns any other error unchanged. */
export function explainSqliteError(error: unknown, path: string): unknown {
  if (error instanceof DocmirrorError || !(error instanceof Error)) return error;
  const because = (words: string, code?: ErrorCode) =>
    new MirrorFileError(`${path} ${words}`, { cause: error, ...(code === undefined ? {} : { code }) });
  // SQLite rolls back by itself if the disk is full or fails. Another rollback then hides that with an error of its own.
  if (error.cause instanceof Error && error.cause.message.startsWith('cannot rollback'))
    return because("can't be written, and nothing was changed. Check that its disk has room.");
  const given = codeOf(error) ?? codeOf(error.cause);
  // SQLite has several codes for a read-only file system.
  const isReadOnly = /^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(given ?? '') && isOnReadOnlySystem(path);
  const code = isReadOnly ? 'EROFS' : given;
  // The shape was checked when the file was opened, so anything missing now was changed or damaged.
  if (code === 'SQLITE_ERROR' && /^(no such (table|column)|table \S+ has no column)/.test(error.message))
    return because(
      `does not have the tables that docmirror made: ${error.message}. Restore it from a backup, or move it away and sync again.`,
    );
  const known = meanings.find(([codeStart]) => codeStart.test(code ?? ''));
  return known === undefined ? error : because(`${known[1]} (${code})`, known[2]);
}

function isOnReadOnlySystem(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === 'EROFS';
  }
}

/** Does some work on a file; failures are explained as in `explainSqliteError`. */
export function explaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/**
 * SQLite's report of damage in a file's trees and indexes; null if there is none. It reads the whole file: about 1.5 s a million
 * rows.
 */
export function damageOf(sqlite: Database.Database): string | null {
  const found = String(sqlite.pragma('integrity_check(1)', { simple: true }) ?? 'ok');
  return found === 'ok' ? null : found.replaceAll(/\s+/g, ' ');
}

/** @throws MirrorFileError if a mirror is damaged. */
export function assertWhole(path: string, sqlite: Database.Database): void {
  const damage = damageOf(sqlite);
  if (damage !== null) throw new MirrorFileError(`${path} is damaged (${damage}). ${restoreIt}`);
}
