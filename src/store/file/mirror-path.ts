import { existsSync, lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { MirrorFileError, RefusedFileError, UsageError } from '../../errors.ts';
import { assertNotBeside, assertOwnBeside } from './beside.ts';
import type { FoundFile } from './connections.ts';
import { findOut } from './file-kind.ts';
import { explaining, explainSqliteError } from './sqlite-errors.ts';

/** What a path is called where it is refused. */
const setting = 'DOCMIRROR_DATABASE';

/**
 * The file behind a path: where the path is a symbolic link, what it leads to. All that lies beside a mirror lies beside that
 * file, so one mirror has one lock, whatever it is called.
 *
 * @param name what gave the path, for the error.
 * @throws UsageError where no file could be at the path.
 */
export function fileBehind(path: string, name: string = setting): string {
  const text = path.trim();
  if (text === '') throw new UsageError(`${name}: it is empty. Name a file.`);
  if (text === ':memory:' || /^file:/i.test(text)) {
    throw new UsageError(`${name}: ${path} is no file that lasts. Name a file by its path.`);
  }
  // SQLite's binding would leave the spaces out, and open another file.
  if (text !== path)
    throw new UsageError(`${name}: "${path}" begins or ends with a space. Name another file.`);
  const folder = dirname(resolve(path));
  const parent = usable(name, path, () => statSync(folder, { throwIfNoEntry: false }));
  if (parent?.isDirectory() === false)
    throw new UsageError(`${name}: the way to ${path} leads through a file. Name another one.`);
  if (parent === undefined) {
    throw new UsageError(`${name}: the folder ${folder} does not exist. Make it, or name another file.`);
  }
  assertNameFits(name, path, longestEnding);
  const stat = usable(name, path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stat?.isSymbolicLink()) return fileBehind(realPath(path, name), name);
  if (stat?.isDirectory() || namesFolder.test(path))
    throw new UsageError(`${name}: ${path} is a folder. Name a file in it.`);
  if (stat !== undefined && !stat.isFile())
    throw new UsageError(`${name}: ${path} is no regular file. Name another one.`);
  return path;
}

const namesFolder = /(?:^|[/\\])\.{0,2}$/;

/** The longest name that has to lie beside a mirror while it is written is the mirror's with this ending. */
const longestEnding = '.staging-journal';

/**
 * Makes sure that the file system takes a file's name with an ending, for what has to lie beside the file.
 *
 * @param name what gave the path, for the error.
 * @throws UsageError where the two are too long.
 */
export function assertNameFits(name: string, path: string, ending: string): void {
  usable(name, path, () => lstatSync(`${resolve(path)}${ending}`, { throwIfNoEntry: false }));
}

/** Looks at what a setting names; what is wrong with the path itself is said of the setting. */
function usable<T>(name: string, path: string, look: () => T): T {
  try {
    return explaining(path, look);
  } catch (error) {
    if (!(error instanceof MirrorFileError && error.code === 'settings')) throw error;
    throw new UsageError(`${name}: ${error.message}`, { cause: error });
  }
}

/**
 * The file that a symbolic link leads to.
 *
 * @param name what gave the path, for the error.
 * @throws UsageError where it leads to none.
 */
export function realPath(path: string, name: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new UsageError(`${name}: ${path} is a symbolic link that leads to no file. Name another one.`, {
      cause: error,
    });
  }
}

/**
 * The file behind the path of a mirror that is to be written; it may not be there yet.
 *
 * @throws UsageError where no file could be at the path.
 * @throws RefusedFileError where something lies there, or beside it, that is not docmirror's, or that has another name too, or where the
 *   name is that of what lies beside another database.
 */
export function mirrorToWrite(path: string): string {
  const file = fileBehind(path);
  assertNotBeside(file);
  explaining(file, () => assertOwnBeside(file));
  findMirror(file);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat !== undefined) assertOneName(file, stat);
  return file;
}

/**
 * The file behind the path of a mirror that is to be read, and how it is written.
 *
 * @param takesShare true if a share will do, too.
 * @throws UsageError, RefusedFileError as `mirrorToWrite` does.
 * @throws MirrorFileError where there is no file.
 */
export function mirrorToRead(
  path: string,
  takesShare = false,
): { readonly file: string; readonly usesLog: boolean } {
  const file = fileBehind(path);
  if (!existsSync(file)) {
    throw new MirrorFileError(
      `There is no mirror at ${path} yet. Make it with "docmirror sync", or name it with --database.`,
    );
  }
  const { usesLog } = findMirror(file, takesShare);
  // A backup is written without a log, so it may be kept under many names.
  if (usesLog) assertOneName(file, statSync(file));
  return { file, usesLog };
}

function findMirror(path: string, takesShare = false): FoundFile {
  const found = explaining(path, () => findOut(path));
  switch (found.kind) {
    case 'none':
    case 'empty':
    case 'mirror':
      return found;
    case 'share':
      if (takesShare) return found;
      throw new RefusedFileError(
        `${path} is a share: a copy of a mirror for those who only read. Name the mirror itself.`,
      );
    case 'staging':
      throw new RefusedFileError(`${path} is a mirror's staging file. Name the mirror itself.`);
    case 'another database':
      throw new RefusedFileError(
        `${path} is an SQLite database of another program. It was left as it is; name another file for the mirror.`,
      );
    case 'damaged database':
      throw explainSqliteError(
        new Database.SqliteError('its tables can not be read', 'SQLITE_CORRUPT'),
        path,
      );
    case 'no database':
      throw new RefusedFileError(
        `${path} is not an SQLite database. It was left as it is; name another file for the mirror.`,
      );
  }
}

function assertOneName(path: string, { nlink }: Stats): void {
  if (nlink <= 1) return;
  throw new RefusedFileError(
    `${path} has another name too (a hard link), under which another run could write it. Remove one of the names.`,
  );
}
