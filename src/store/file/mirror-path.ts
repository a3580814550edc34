import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf, DocmirrorError, MirrorFileError, RefusedFileError, UsageError } from '../../errors.ts';
import { explaining } from './sqlite-errors.ts';

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

/** The first `user_version` of a mirror that can be brought up to date. 0.1 wrote none, 0.2 wrote up to 5. */
export const firstShape = 6;

/** How long a statement waits for the lock of another program before it fails, in milliseconds. */
export const busyTimeoutMs: number = 1_000;

/**
 * The file behind a path: if the path is a symbolic link, the target. SQLite's log and docmirror's lock are beside that file, so
 * one mirror has one lock under all its names.
 *
 * @param name the flag or setting that gave the path, for the error.
 * @throws UsageError if no file can be at the path.
 */
export function fileBehind(path: string, name = 'DOCMIRROR_DATABASE'): string {
  const refuse = (why: string) => new UsageError(`${name}: ${why}. Name another file.`);
  // SQLite's binding drops spaces around a name, and takes the other two for a database in memory.
  if (path !== path.trim() || path === '' || path === ':memory:')
    throw refuse(`"${path}" is not the name of a file`);
  try {
    const folder = dirname(path);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw refuse(`the folder ${folder} does not exist`);
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    const file = isLink ? realpathSync(path) : path;
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
      throw refuse(`${path} is not a regular file`);
    return file;
  } catch (error) {
    throw error instanceof DocmirrorError ? error : refuse(`${path} can't be used (${codeOf(error)})`);
  }
}

/**
 * The file behind the path of a mirror that will be written; it need not exist yet.
 *
 * @throws UsageError if no file can be at the path.
 * @throws RefusedFileError if something else is there, or the mirror has a second hard link.
 */
export function mirrorToWrite(path: string): string {
  const file = fileBehind(path);
  const kind = explaining(file, () => kindOf(file));
  if (!['none', 'empty', 'mirror'].includes(kind)) throw refusal(path, kind);
  assertOneName(file);
  return file;
}

/** True if a run would create the mirror: there is no file, an empty one, or one without tables. */
export function isYetToMake(path: string): boolean {
  return ['none', 'empty'].includes(explaining(path, () => kindOf(path)));
}

/**
 * The file behind the path of a mirror that is to be read.
 *
 * @throws UsageError if no file can be at the path.
 * @throws MirrorFileError if there is no file.
 */
export function existingFile(path: string): string {
  const file = fileBehind(path);
  if (existsSync(file)) return file;
  throw new MirrorFileError(
    `There is no mirror at ${path} yet. Make it with "docmirror sync", or name it with --database.`,
  );
}

/**
 * Makes sure that a mirror has one name: another run could write it under a second one, with a lock of its own, and would not find
 * SQLite's log.
 *
 * @throws RefusedFileError if it has a second hard link.
 */
export function assertOneName(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) === 1) return;
  throw new RefusedFileError(
    `${file} has a second name (a hard link), under which another run could write it. Remove one of the names.`,
  );
}

/** Says why a file can't be the mirror. */
export function refusal(path: string, kind: FileKind): RefusedFileError {
  if (kind === 'old mirror')
    return new RefusedFileError(
      `${path} was made by docmirror 0.1 or 0.2, which this version can't read. Move it and ${path}.staging away, and run "docmirror sync": it makes a new mirror. The old version still reads the old file.`,
      { code: 'mirror_too_old' },
    );
  const what = {
    share: 'a share, a copy for readers. Name the mirror that it was made from',
    lock: 'the lock of a mirror. Name the mirror itself',
    'another database': 'an SQLite database of another program. It was left as it is; name another file',
  }[kind as string];
  return new RefusedFileError(
    `${path} is ${what ?? 'not an SQLite database. It was left as it is; name another file'}.`,
  );
}

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
