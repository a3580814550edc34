import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import {
  codeOf,
  DocmirrorError,
  exitCodes,
  MirrorFileError,
  OtherShapeError,
  RefusedFileError,
  UsageError,
} from '../../errors.ts';
import { packageFolder, version } from '../../version.ts';
import { firstRow, firstValue, type Sqlite } from '../tables/ask.ts';
import { behindLink } from './links.ts';
import { explaining } from './sqlite-errors.ts';

/** The values of `application_id` in the headers of docmirror's databases: "docm", "docs" and "doch". */
export const applicationIds = { mirror: 0x64_6f_63_6d, lock: 0x64_6f_63_73, share: 0x64_6f_63_68 } as const;

const ofOlder = (release: string) =>
  `was made by docmirror ${release}, which this version can't read. Run docmirror 0.5 once: its "docmirror sync" brings it up to date, and this version goes on with it.`;

/** The kinds of file that a command can find at a path, each with the words that refuse it for a mirror. */
const refusals = {
  none: '',
  /** A file of no bytes, or a database without tables and without another program's id. */
  empty: '',
  mirror: '',
  'mirror of 0.2':
    'was made by docmirror 0.2, which this version can\'t read. Move it away, and run "docmirror sync".',
  'mirror of 0.3': ofOlder('0.3'),
  'mirror of 0.4': ofOlder('0.4'),
  share: 'is a share, a copy for readers. Name the mirror that it was made from.',
  lock: 'is the lock of a mirror. Name the mirror itself.',
  'another database': 'is an SQLite database of another program. It was left as it is; name another file.',
  'no database': 'is not an SQLite database. It was left as it is; name another file.',
};

type FileKind = keyof typeof refusals;

/** The mirrors that this version does not read, and the last `user_version` that the release of each wrote. */
const tooOld = new Map<FileKind, number>([
  ['mirror of 0.2', 5],
  ['mirror of 0.3', 6],
  ['mirror of 0.4', 7],
]);

/** True for a mirror, or a backup of one, of 0.4 or older. */
export function isTooOld(kind: FileKind): boolean {
  return tooOld.has(kind);
}

/** Says why a file can't be the mirror. */
export function refusal(path: string, kind: FileKind): RefusedFileError {
  const words = refusals[kind];
  if (!isTooOld(kind)) return new RefusedFileError(`${path} ${words}`);
  return new OtherShapeError(path, words, { code: 'mirror_too_old', exitCode: exitCodes.failed });
}

/** How long a statement waits for the lock of another program before it fails, in milliseconds. */
export const busyTimeoutMs: number = 1_000;

/** The file behind a path: log and lock are beside it under all its names. Throws a UsageError, with `name`, if none can be there. */
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

/** The file of a mirror that will be written; it need not exist. Throws a UsageError or RefusedFileError, also for a second hard link. */
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
function assertOneName(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) === 1) return;
  throw new RefusedFileError(
    `${file} has a second name (a hard link), under which another run could write it. Remove one of the names.`,
  );
}

/** Finds out what is at a path. It opens the file as any SQLite program does. Throws a MirrorFileError if it can't be read. */
export function kindOf(path: string): FileKind {
  return explaining(path, () => kindWithin(busyTimeoutMs, path));
}

/** As `kindOf`, but it throws SQLite's own errors, and after this time if another program has the file locked. */
export function kindWithin(timeoutMs: number, path: string): FileKind {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.size) return stat === undefined ? 'none' : 'empty';
  const sqlite = new Database(path, { fileMustExist: true, timeout: timeoutMs });
  try {
    return kindOfOpen(sqlite);
  } finally {
    sqlite.close();
  }
}

/** As `kindOf`, for a file that was just opened. The connection can't write afterwards. */
export function kindOfOpen(sqlite: Sqlite): FileKind {
  try {
    sqlite.pragma('query_only = ON');
    const id = Number(sqlite.pragma('application_id', { simple: true }));
    const version = Number(sqlite.pragma('user_version', { simple: true }));
    if (id === applicationIds.lock) return 'lock';
    if (id === applicationIds.share) return 'share';
    if (id === applicationIds.mirror && version > 0)
      return tooOld.entries().find(([, shape]) => version <= shape)?.[0] ?? 'mirror';
    if (version > 0 || (id !== 0 && id !== applicationIds.mirror)) return 'another database';
    if (firstRow(sqlite, "SELECT 1 FROM sqlite_schema WHERE type = 'table'") === undefined) return 'empty';
    // A run that was killed while it made the mirror has written no version yet.
    return id === 0 ? 'another database' : 'mirror';
  } catch (error) {
    if (codeOf(error) === 'SQLITE_NOTADB') return 'no database';
    throw error;
  }
}

/** An open mirror or share. */
export interface MirrorFile extends Disposable {
  /** The path of the file itself, with symbolic links resolved. */
  readonly path: string;
  readonly sqlite: Sqlite;
  /** The copy of an older mirror that was brought up to date just now; null or left out if it was not. */
  readonly copyOfBefore?: string | null;
  close(): void;
}

/** The page cache of a connection to a mirror, in KiB: with SQLite's default of 2 MiB, work takes a third longer. */
export const cacheKib = 16 * 1024;

/** Opens a mirror or share to read, and changes no file. Throws a UsageError, RefusedFileError or MirrorFileError that says what to do. */
export function openForReading(path: string): MirrorFile {
  return openOfAnyShape(path, ['mirror', 'share'], assertCurrent);
}

/** Opens a mirror to read as `openForReading` does; a share is refused. */
export function openMirrorForReading(path: string): MirrorFile {
  return openOfAnyShape(path, ['mirror'], assertCurrent);
}

/** Opens a mirror, or another kind of file, to read as `openForReading` does, whatever its shape, if `check` does not refuse it. */
export function openOfAnyShape(
  path: string,
  kinds: readonly FileKind[] = ['mirror'],
  check: typeof assertCurrent = () => undefined,
): MirrorFile {
  const file = fileBehind(path);
  if (!existsSync(file))
    throw new MirrorFileError(
      `There is no mirror at ${path} yet. Make it with "docmirror sync", or name it with --database.`,
    );
  return explaining(file, () =>
    // SQLite itself opens the file read-only if this user can't write it.
    connect(file, { fileMustExist: true, timeout: busyTimeoutMs * 10 }, sqlite => {
      const kind = kindOfOpen(sqlite);
      if (kind === 'empty' || (kind === 'mirror' && shapeAge(sqlite) === 'none'))
        throw new MirrorFileError(`${path} is empty. Fill it with "docmirror sync".`);
      if (!kinds.includes(kind)) throw refusal(path, kind);
      // A backup is written without a log, so it can have several names.
      if (sqlite.pragma('journal_mode', { simple: true }) === 'wal') assertOneName(file);
      check(sqlite, path, kind);
    }),
  );
}

function assertCurrent(sqlite: Sqlite, path: string, kind: FileKind): void {
  assertNotLater(sqlite, path);
  if (shapeAge(sqlite) === 'current') return;
  if (kind === 'share')
    throw new OtherShapeError(
      path,
      'is a share of an older docmirror. Make it again with "docmirror share".',
    );
  const what = `was made by docmirror ${versionOf(sqlite)}. Run "docmirror sync" with version ${version}, which copies the file and brings it up to date.`;
  throw new OtherShapeError(path, what, { code: 'upgrade_needed' });
}

/** Connects to a mirror; the connection is closed if it can't be prepared. */
export function connect(path: string, options: Database.Options, prepare: (sqlite: Sqlite) => void) {
  const sqlite = new Database(path, options);
  const close = () => void sqlite.close();
  try {
    // One in a user's own table would stop a run that removes a record, or remove the user's row.
    sqlite.pragma('foreign_keys = OFF');
    prepare(sqlite);
    sqlite.pragma(`cache_size = -${cacheKib}`);
  } catch (error) {
    close();
    throw error;
  }
  return { path, sqlite, close, [Symbol.dispose]: close };
}

/** The migrations that Drizzle generated, the oldest first. */
export const migrations = readMigrationFiles({ migrationsFolder: join(packageFolder, 'migrations') });

/** The shape that this docmirror writes, as `user_version`. All migrations since the release before make one shape. */
export const currentShape = 9;

/** How the shape of a mirror's tables compares with the current one; `none` if the mirror was never finished. */
export function shapeAge(sqlite: Sqlite): 'none' | 'older' | 'current' | 'later' {
  const shape = Number(sqlite.pragma('user_version', { simple: true }));
  if (shape >= currentShape) return shape === currentShape ? 'current' : 'later';
  return shape === 0 ? 'none' : 'older';
}

/** @throws OtherShapeError if a later docmirror wrote the mirror. */
export function assertNotLater(sqlite: Sqlite, path: string): void {
  if (shapeAge(sqlite) === 'later')
    throw new OtherShapeError(path, 'was made by a newer docmirror. Update docmirror to use it.');
}

/** The version of docmirror that upgraded a mirror last, or else of its first run. */
export function versionOf(sqlite: Sqlite): string {
  const known = `SELECT coalesce((SELECT receipt ->> 'docmirrorVersion' FROM sync_receipts
      WHERE run_id IS NULL AND instr(receipt, '"kind":"upgrade"') > 0 AND json_valid(receipt) ORDER BY leaf_index DESC LIMIT 1),
    (SELECT docmirror_version FROM sync_runs ORDER BY id LIMIT 1), 'an older version')`;
  return firstValue<string>(sqlite, known) ?? '';
}
