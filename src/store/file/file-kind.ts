import { statSync } from 'node:fs';
import { type FileKind, type FoundFile, knownFile } from './connections.ts';
import { hasLog } from './file-mark.ts';
import { firstBytes } from './first-bytes.ts';
import { readAlone } from './read-alone.ts';
import { openCopy } from './read-connection.ts';

/** What stands in the header of docmirror's databases, so that they are known for what they are: "docm", "docs" and "doch". */
export const applicationIds = {
  mirror: 0x64_6f_63_6d,
  staging: 0x64_6f_63_73,
  share: 0x64_6f_63_68,
} as const;

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
  if (id === applicationIds.share) return 'share';
  if (id === applicationIds.mirror)
    return isMirror(id, readAlone(path, namesIn) ?? []) ? 'mirror' : 'another database';
  if (id !== 0) return 'another database';
  const kind = kindByTables(path);
  // Who sets a version means to make tables.
  return kind === 'empty' && header.readUInt32BE(userVersionAt) !== 0 ? 'another database' : kind;
}

/**
 * Whether a database is a mirror, by its id and the names of what it holds. Anyone may write docmirror's id into a header; tables of a
 * mirror that were tampered with are an audit's to find.
 *
 * @param id what its header bears.
 */
export function isMirror(id: unknown, names: readonly string[]): boolean {
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

/** The names of all that a database holds; null where it is damaged. */
function tablesIn(path: string): string[] | null {
  const names = readAlone(path, namesIn);
  // What a process that was killed wrote may stand in the log alone.
  return hasLog(path) && (names === null || names.length === 0) ? namesInCopy(path) : names;
}

const selectNames =
  "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type <> 'index'";

/**
 * The names of all that a database holds but indexes and what SQLite makes itself.
 *
 * @param database a connection of either SQLite.
 */
export function namesIn(database: { prepare(sql: string): { all(): unknown[] } }): string[] {
  const rows = database.prepare(selectNames).all() as { name: string }[];
  return rows.map(({ name }) => name);
}

function namesInCopy(path: string): string[] | null {
  try {
    const { sqlite, close } = openCopy(path);
    const names = namesIn(sqlite);
    close();
    return names;
  } catch {
    return null;
  }
}
