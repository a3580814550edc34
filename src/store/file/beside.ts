import { constants, lstatSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, MirrorFileError, RefusedFileError } from '../../errors.ts';
import { denial } from './access.ts';
import { knownFile } from './connections.ts';
import { firstBytes } from './first-bytes.ts';

/** What SQLite keeps beside a database, and would take for part of any file of that name. */
export const namesBeside: readonly string[] = ['-wal', '-shm', '-journal'];

const ofDatabase = /(?:\.staging)?-(?:wal|shm|journal)$|\.staging$/;

/**
 * Makes sure that a name does not belong to what lies, or may come to lie, beside a database.
 *
 * @param isForLong true where the file is to stay while databases come and go: then none need be there yet.
 * @throws RefusedFileError where it does: SQLite would delete such a file, or take it for part of the database.
 */
export function assertNotBeside(path: string, isForLong = false): void {
  const database = path.replace(ofDatabase, '');
  if (database === path) return;
  if (!isForLong && statSync(database, { throwIfNoEntry: false })?.isFile() !== true) return;
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

/** Whether what lies beside a database may be SQLite's own; zeros stand where a journal has ended, or a power cut came early. */
const areOwn: Readonly<Record<string, (file: string, bytes: number) => boolean>> = {
  '-wal': file => /^(?:377f068[23]|00000000)/.test(beginningOf(file, 4)),
  '-journal': file => /^(?:d9d505f9|00)/.test(beginningOf(file, 4)),
  // It is three bytes long at first, grows by whole pages, and then begins with the number of its form, in the machine's order of bytes.
  '-shm': (file, bytes) =>
    bytes === 3 || (bytes % 4096 === 0 && /^(?:18e22d00|002de218|00000000)/.test(beginningOf(file, 4))),
};

/**
 * Makes sure that nobody else's file bears the name of what SQLite keeps beside a database: it would be written over.
 *
 * @throws RefusedFileError that names it; it is left as it is.
 */
export function assertOwnBeside(path: string): void {
  // Then SQLite has looked at it, and holds locks on it that a look past SQLite would take away.
  if (knownFile(path) !== undefined) return;
  for (const [name, isOwn] of Object.entries(areOwn)) {
    const file = `${path}${name}`;
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined || (stat.isFile() && (stat.size === 0 || isOwn(file, stat.size)))) continue;
    throw new RefusedFileError(
      `${file} lies there, which SQLite did not make, and it would write over it. It was left as it is; move it away, or name another file.`,
    );
  }
}

/**
 * Makes sure that what SQLite keeps beside a database while somebody writes to it can be read with it.
 *
 * @throws MirrorFileError that names what can't, and says what to do.
 */
export function assertReadableBeside(path: string): void {
  // Asked in one look, for it may vanish between two.
  const closed = ['-wal', '-shm']
    .map(name => `${path}${name}`)
    .find(file => /^(EACCES|EPERM)$/.test(denial(file, constants.R_OK) ?? ''));
  if (closed === undefined) return;
  throw new MirrorFileError(
    `${closed} can't be read by this user, and is a part of ${path} while a run goes, or after one that was killed. Try again when a run has ended. Where a group is to read at any time, let it own new files there: chmod g+s ${dirname(resolve(path))}`,
  );
}

/**
 * Makes sure that SQLite will not roll a journal back into a file: it asks only for the journal's name, not whose it is, and
 * docmirror leaves none beside a file that it has made.
 *
 * @throws RefusedFileError that names the journal; both are left as they are.
 */
export function assertNoJournal(path: string): void {
  const journal = `${path}-journal`;
  if (!hasJournal(path)) return;
  throw new RefusedFileError(
    `${journal} lies there, which docmirror did not make: SQLite would undo with it what ${path} holds. Move it away; only where another program was stopped while it wrote to this very file, let it end that with: sqlite3 ${path} "PRAGMA schema_version"`,
  );
}

/**
 * The same for a run, which ends what one that was killed began: to make a file, or to write to a restored mirror through a log.
 *
 * @throws RefusedFileError that names the journal; both are left as they are.
 */
export function assertNoForeignJournal(path: string): void {
  // Looked at first: of a file that this process has open a look past SQLite would take the locks away, and it has no journal.
  if (!hasJournal(path)) return;
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  // A database of one page holds no table yet: there is nothing to be undone.
  if (bytes > pageBytesOf(path) && !undoesSwitchToLog(path)) assertNoJournal(path);
}

/** How large a database's pages are, by its header; 4,096 where it has none yet. */
function pageBytesOf(path: string): number {
  const head = firstBytesIfAny(path, 18);
  const said = head.length < 18 ? 0 : head.readUInt16BE(16);
  return said === 0 ? 4_096 : said === 1 ? 65_536 : said;
}

/** Whether a journal undoes no more than the switch of its own database to a log. Source: SQLite's formats of journals and headers. */
function undoesSwitchToLog(path: string): boolean {
  const head = firstBytesIfAny(`${path}-journal`, journalHeadBytes);
  if (head.length < journalHeadBytes) return false;
  const [sectorBytes, pageBytes] = [head.readUInt32BE(20), head.readUInt32BE(24)];
  // The switch changes the first page alone: its number, what it was, and a check sum.
  const entryBytes = 4 + pageBytes + 4;
  if (sectorBytes > 65_536 || pageBytes > 65_536) return false;
  const journal = firstBytesIfAny(`${path}-journal`, sectorBytes + entryBytes + 1);
  if (journal.length !== sectorBytes + entryBytes || journal.readUInt32BE(sectorBytes) !== 1) return false;
  const [before, now] = [journal.subarray(sectorBytes + 4, -4), firstBytes(path, pageBytes)];
  return unswitched(before).equals(unswitched(now));
}

const journalHeadBytes = 28;

/** A database's first page without what a switch to a log changes: how it is written, and the counts of its changes. */
function unswitched(page: Buffer): Buffer {
  const rest = Buffer.from(page);
  return rest.fill(0, 18, 20).fill(0, 24, 28).fill(0, 92, 100);
}

/** True where a journal lies beside a file that SQLite would roll back. One that was ended by clearing its first bytes is none any more. */
export function hasJournal(path: string): boolean {
  const journal = `${path}-journal`;
  if (lstatSync(journal, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return beginningOf(journal, 1) !== '00';
}

/** A file's first bytes in hexadecimal digits; what a shorter one lacks, or one that is gone by now, counts as cleared. */
function beginningOf(path: string, count: number): string {
  return Buffer.concat([firstBytesIfAny(path, count)], count).toString('hex');
}

/** The first bytes of what was there a moment ago: whoever closes the database last removes it. */
function firstBytesIfAny(path: string, count: number): Buffer {
  try {
    return firstBytes(path, count);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return Buffer.alloc(0);
  }
}
