import { closeSync, lstatSync, openSync, readSync, statSync } from 'node:fs';
import { MirrorFileError, RefusedFileError } from '../../errors.ts';

/** What SQLite keeps beside a database, and would take for part of any file of that name. */
export const namesBeside: readonly string[] = ['-wal', '-shm', '-journal'];

const ofDatabase = /(?:\.staging)?-(?:wal|shm|journal)$|\.staging$/;

/**
 * Makes sure that a name does not belong to what lies, or may come to lie, beside a database.
 *
 * @throws RefusedFileError where it does: SQLite would delete such a file, or take it for part of the database.
 */
export function assertNotBeside(path: string): void {
  const database = path.replace(ofDatabase, '');
  if (database === path || statSync(database, { throwIfNoEntry: false })?.isFile() !== true) return;
  throw new RefusedFileError(
    `${path} is a name for what SQLite or docmirror keeps beside ${database}. Name another file.`,
  );
}

/**
 * Makes sure that nothing lies beside a file that SQLite would take for part of it.
 *
 * @throws RefusedFileError that names what lies there; it is left as it is.
 */
export function assertNothingBeside(path: string): void {
  const found = namesBeside.find(
    name => lstatSync(`${path}${name}`, { throwIfNoEntry: false }) !== undefined,
  );
  if (found === undefined) return;
  throw new RefusedFileError(
    `${path}${found} lies there: a program has ${path} open, or left it behind, and it would damage a new file of that name. Close the program or remove it, or name another file.`,
  );
}

/**
 * Makes sure that SQLite will not roll a journal back into a file: it asks only for the journal's name, not whose it is, and
 * docmirror leaves none beside a file that it has made.
 *
 * @throws MirrorFileError that names the journal; both are left as they are.
 */
export function assertNoJournal(path: string): void {
  const journal = `${path}-journal`;
  if (!isHot(journal)) return;
  throw new MirrorFileError(
    `${journal} lies there, which docmirror did not make: SQLite would undo with it what ${path} holds. Move it away; only where another program was stopped while it wrote to this very file, let it end that with: sqlite3 ${path} "PRAGMA schema_version"`,
  );
}

/** A journal that was ended by clearing its first bytes is none any more. */
function isHot(journal: string): boolean {
  if (lstatSync(journal, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const file = openSync(journal, 'r');
  try {
    const bytes = Buffer.alloc(1);
    readSync(file, bytes);
    return bytes[0] !== 0;
  } finally {
    closeSync(file);
  }
}
