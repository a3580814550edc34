import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { RefusedFileError } from '../../errors.ts';
import { type FileKind, type FoundFile, knownFile } from './connections.ts';
import { hasLog } from './file-mark.ts';
import { firstBytes } from './first-bytes.ts';
import { openCopy } from './read-connection.ts';

/** What stands in the header of docmirror's databases, so that they are known for what they are: "docm" and "docs". */
export const applicationIds = { mirror: 0x64_6f_63_6d, staging: 0x64_6f_63_73 } as const;

const headerBytes = 100;
const magic = 'SQLite format 3\0';
const readVersionAt = 19;
const readVersionOfLog = 2;
const userVersionAt = 60;
const applicationIdAt = 68;

/**
 * Finds out whose file it is, without a trace: nothing is written to it or made beside it, and no lock is taken.
 *
 * @param path a file, a database or not, or nothing.
 * @throws the file system's error where the file can't be read.
 */
export function findOut(path: string): FoundFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return { kind: 'none', usesLog: false };
  if (size === 0) return { kind: 'empty', usesLog: false };
  const known = knownFile(path);
  if (known !== undefined) return known;
  const header = firstBytes(path, headerBytes);
  if (header.length < headerBytes || header.toString('latin1', 0, magic.length) !== magic)
    return { kind: 'no database', usesLog: false };
  return { kind: kindBy(header, path), usesLog: header[readVersionAt] === readVersionOfLog };
}

/** True where no tables were made yet: there is no file, an empty one, or what a first run left that was stopped at once. */
export function isYetToMake(path: string): boolean {
  const { kind } = findOut(path);
  return kind === 'none' || kind === 'empty' || (kind === 'mirror' && tablesIn(path)?.length === 0);
}

function kindBy(header: Buffer, path: string): FileKind {
  const id = header.readUInt32BE(applicationIdAt);
  if (id === applicationIds.staging) return 'staging';
  if (id === applicationIds.mirror)
    return isMirror(id, namesInFile(path) ?? []) ? 'mirror' : 'another database';
  if (id !== 0) return 'another database';
  const kind = kindByTables(path);
  // Who sets a version means to make tables.
  return kind === 'empty' && header.readUInt32BE(userVersionAt) !== 0 ? 'another database' : kind;
}

/**
 * Whether a database is a mirror, by its id and the names of what it holds. Anyone may write docmirror's id into a header; tables of a
 * mirror that were tampered with are an audit's to find.
 */
function isMirror(id: unknown, names: readonly string[]): boolean {
  const own = tablesOf010.filter(name => names.includes(name));
  if (id === applicationIds.mirror) return names.length === 0 || own.length > 0;
  return id === 0 && own.length === tablesOf010.length;
}

/** docmirror 0.1.0 gave its files no id. Its mirror has at least these tables, its staging file just these. */
const tablesOf010 = [
  '__drizzle_migrations',
  'collections',
  'connections',
  'document_exports',
  'record_history',
  'rejected_records',
  'sync_run_resources',
  'sync_runs',
  'webhooks',
];
const stagingTablesOf010 = ['pages', 'walks'];

function kindByTables(path: string): FileKind {
  const names = tablesIn(path);
  if (names === null) return 'damaged database';
  if (names.length === 0) return 'empty';
  if (isMirror(0, names)) return 'mirror';
  const isStaging = names.length === 2 && stagingTablesOf010.every(name => names.includes(name));
  return isStaging ? 'staging' : 'another database';
}

/**
 * Looks at a mirror that may have a log beside it, before a connection reads the two together: SQLite asks only for the log's name, not
 * whose it is, nor whether it is of an earlier day.
 *
 * @returns what makes sure, with such a connection, that the log is the mirror's own.
 * @throws (what is returned) RefusedFileError where it is another database's, or older than the file; both are left as they are.
 */
export function lookAtLog(path: string): (sqlite: Database.Database) => void {
  // Taken before the connection's look: a run may add to both between the two.
  const alone = hasLog(path) && knownFile(path) === undefined ? readAlone(path, newestIn) : null;
  return sqlite => {
    if (!hasLog(path)) return;
    const id = sqlite.pragma('application_id', { simple: true });
    if (!isMirror(id, sqlite.prepare<[], string>(selectNames).pluck().all())) throw foreignLog(path);
    if (alone === null) return;
    const both = newestIn(sqlite);
    if (both.runId >= alone.runId && both.leafIndex >= alone.leafIndex) return;
    throw new RefusedFileError(
      `${path}-wal lies there, which is older than ${path}: SQLite would undo with it what the newest run wrote. Both were left as they are; move the -wal away.`,
    );
  };
}

/**
 * Makes sure that the log beside a staging file, if there is any, is no other database's.
 *
 * @throws RefusedFileError where it is; both are left as they are.
 */
export function assertLogOfStaging(path: string): void {
  if (!hasLog(path) || knownFile(path) !== undefined) return;
  // It stood in the file before there was a log; where the file alone is damaged, the log may be what makes it whole.
  const own = readAlone(path, database => database.prepare('PRAGMA application_id').get()?.application_id);
  if (own === null) return;
  const sqlite = new Database(path, { readonly: true, timeout: 0 });
  try {
    const id = sqlite.pragma('application_id', { simple: true });
    if (id !== own) throw foreignLog(path);
  } catch (error) {
    // A run holds it; or what was staged is damaged, which can be asked for again.
    if (!(error instanceof Database.SqliteError)) throw error;
  } finally {
    sqlite.close();
  }
}

function foreignLog(path: string): RefusedFileError {
  return new RefusedFileError(
    `${path}-wal lies there, which is another database's: SQLite would write it into ${path}. Both were left as they are; move it away.`,
  );
}

/** The newest run and the newest receipt that a mirror holds. */
interface Newest {
  readonly runId: number;
  readonly leafIndex: number;
}

function newestIn(database: { prepare(sql: string): { get(): unknown } }): Newest {
  return database
    .prepare(
      `SELECT (SELECT ifnull(max(id), 0) FROM sync_runs) AS runId, (SELECT ifnull(max(leaf_index), -1) FROM sync_receipts) AS leafIndex`,
    )
    .get() as Newest;
}

/** The names of all that a database holds; null where it is damaged. */
function tablesIn(path: string): string[] | null {
  const names = namesInFile(path);
  // What a process that was killed wrote may stand in the log alone.
  return hasLog(path) && (names === null || names.length === 0) ? namesInCopy(path) : names;
}

const selectNames =
  "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type <> 'index'";

function namesInFile(path: string): string[] | null {
  return readAlone(path, database =>
    database
      .prepare(selectNames)
      .all()
      .map(({ name }) => String(name)),
  );
}

/** Read as a file that can't change, SQLite looks at nothing beside it; null where it is damaged. Only Node's own SQLite takes such an address. */
function readAlone<T>(path: string, read: (database: DatabaseSync) => T): T | null {
  const address = pathToFileURL(resolve(path));
  address.searchParams.set('immutable', '1');
  try {
    using database = new DatabaseSync(address, { readOnly: true });
    return read(database);
  } catch {
    return null;
  }
}

function namesInCopy(path: string): string[] | null {
  try {
    const { sqlite, close } = openCopy(path);
    const names = sqlite.prepare<[], string>(selectNames).pluck().all();
    close();
    return names;
  } catch {
    return null;
  }
}
