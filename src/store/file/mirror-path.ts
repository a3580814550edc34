import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf, DocmirrorError, RefusedFileError, UsageError } from '../../errors.ts';
import { explaining } from './sqlite-errors.ts';

/** The values of `application_id` in the headers of docmirror's databases: "docm", "docs" and "doch". */
export const applicationIds = { mirror: 0x64_6f_63_6d, lock: 0x64_6f_63_73, share: 0x64_6f_63_68 } as const;

/** The kinds of file that a command can find at a path, each with the words that refuse it for a mirror. */
const refusals = {
  none: '',
  /** A file of no bytes, or a database without tables and without another program's id. */
  empty: '',
  mirror: '',
  'old mirror':
    'was made by docmirror 0.2, which this version can\'t read. Move it away, and run "docmirror sync".',
  share: 'is a share, a copy for readers. Name the mirror that it was made from.',
  lock: 'is the lock of a mirror. Name the mirror itself.',
  'another database': 'is an SQLite database of another program. It was left as it is; name another file.',
  'no database': 'is not an SQLite database. It was left as it is; name another file.',
};

/** The kind of the file at a path. */
export type FileKind = keyof typeof refusals;

/** Says why a file can't be the mirror. */
export function refusal(path: string, kind: FileKind): RefusedFileError {
  const code = kind === 'old mirror' ? 'mirror_too_old' : 'mirror_file';
  return new RefusedFileError(`${path} ${refusals[kind]}`, { code });
}

/** The first `user_version` of a mirror that can be brought up to date; 0.2 wrote up to 5. */
export const firstShape = 6;

/** How long a statement waits for the lock of another program before it fails, in milliseconds. */
export const busyTimeoutMs: number = 1_000;

/** The path itself or, if it is a symbolic link, the file that it leads to. */
export function behindLink(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? realpathSync(path) : path;
}

/**
 * The file behind a path. SQLite's log and docmirror's lock are beside that file, so one mirror has one lock under all its names.
 *
 * @throws UsageError if no file can be at the path; it names the flag or setting that gave it.
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
    const file = behindLink(path);
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
 * @throws UsageError, RefusedFileError if no file can be there, something else is, or the mirror has a second hard link.
 */
export function mirrorToWrite(path: string): string {
  const file = fileBehind(path);
  const kind = kindOf(file);
  if (refusals[kind] !== '') throw refusal(path, kind);
  assertOneName(file);
  return file;
}

/** True if a run would create the mirror: there is no file, an empty one, or one without tables. */
export function isYetToMake(path: string): boolean {
  return ['none', 'empty'].includes(kindOf(path));
}

/** @throws RefusedFileError if a mirror has a second hard link: a run under that name would have another lock and another log. */
export function assertOneName(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) === 1) return;
  throw new RefusedFileError(
    `${file} has a second name (a hard link), under which another run could write it. Remove one of the names.`,
  );
}

/**
 * Finds out what is at a path. It opens the file as any SQLite program does.
 *
 * @throws MirrorFileError if it can't be read.
 */
export function kindOf(path: string, timeoutMs: number = busyTimeoutMs): FileKind {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.size) return stat === undefined ? 'none' : 'empty';
  return explaining(path, () => {
    const sqlite = new Database(path, { fileMustExist: true, timeout: timeoutMs });
    try {
      return kindOfOpen(sqlite);
    } finally {
      sqlite.close();
    }
  });
}

/** As `kindOf`, for a file that was just opened. The connection can't write afterwards. */
export function kindOfOpen(sqlite: Database.Database): FileKind {
  try {
    sqlite.pragma('query_only = ON');
    const id = Number(sqlite.pragma('application_id', { simple: true }));
    const version = Number(sqlite.pragma('user_version', { simple: true }));
    if (id === applicationIds.lock) return 'lock';
    if (id === applicationIds.share) return 'share';
    if (id === applicationIds.mirror && version > 0) return version < firstShape ? 'old mirror' : 'mirror';
    if (version > 0 || (id !== 0 && id !== applicationIds.mirror)) return 'another database';
    if (sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table'").get() === undefined)
      return 'empty';
    // A run that was killed while it made the mirror has written no version yet.
    return id === 0 ? 'another database' : 'mirror';
  } catch (error) {
    if (codeOf(error) === 'SQLITE_NOTADB') return 'no database';
    throw error;
  }
}
