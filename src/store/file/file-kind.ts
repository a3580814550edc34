import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf } from '../../errors.ts';

// All by hand: SQLite's own tables, and objects of which Drizzle has no words.

/** The values of `application_id` in the headers of docmirror's databases: "docm", "docs" and "doch". */
export const applicationIds = { mirror: 0x64_6f_63_6d, lock: 0x64_6f_63_73, share: 0x64_6f_63_68 } as const;

/** The kind of the file at a path. `empty` is a file of no bytes, or a database without tables and without another program's id. */
export type FileKind =
  | 'none'
  | 'empty'
  | 'mirror'
  | 'old mirror'
  | 'share'
  | 'lock'
  | 'another database'
  | 'no database';

/** The first `user_version` that can be upgraded. 0.1 wrote none, 0.2 wrote up to 5. */
export const firstShape = 6;

/** How long a statement waits for the lock of another program before it fails, in milliseconds. */
export const busyTimeoutMs: number = 1_000;

/**
 * Finds out what is at a path. It opens the file as any SQLite program does, and writes nothing to it.
 *
 * @param timeoutMs how long it waits for the lock of another program.
 * @throws SqliteError if the file can't be opened or is damaged.
 */
export function kindOf(path: string, timeoutMs: number = busyTimeoutMs): FileKind {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return 'none';
  if (size === 0) return 'empty';
  const sqlite = new Database(path, { fileMustExist: true, timeout: timeoutMs });
  try {
    return kindOfOpen(sqlite);
  } finally {
    sqlite.close();
  }
}

/** As `kindOf`, for a file that was just opened. The connection can't write afterwards. */
export function kindOfOpen(sqlite: Database.Database): Exclude<FileKind, 'none'> {
  try {
    sqlite.pragma('query_only = ON');
    return kindOfDatabase(sqlite);
  } catch (error) {
    if (codeOf(error) === 'SQLITE_NOTADB') return 'no database';
    throw error;
  }
}

function kindOfDatabase(sqlite: Database.Database): Exclude<FileKind, 'none'> {
  const id = sqlite.pragma('application_id', { simple: true });
  const version = Number(sqlite.pragma('user_version', { simple: true }));
  if (id === applicationIds.lock) return 'lock';
  if (id === applicationIds.share) return 'share';
  if (id !== 0 && id !== applicationIds.mirror) return 'another database';
  // The tables of a damaged mirror can't be listed, but a restore must still recognise it.
  if (id === applicationIds.mirror && version >= firstShape) return 'mirror';
  const tables = sqlite.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'");
  const names = tables.pluck().all();
  if (names.length === 0) return id === 0 && version !== 0 ? 'another database' : 'empty';
  // A run that was killed while it made the mirror has written no version yet.
  if (id === applicationIds.mirror) return version === 0 ? 'mirror' : 'old mirror';
  // 0.1 gave its files no id.
  return ['__drizzle_migrations', 'sync_runs', 'document_exports'].every(name => names.includes(name))
    ? 'old mirror'
    : 'another database';
}
