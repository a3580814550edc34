import { existsSync, lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { MirrorFileError, RefusedFileError, UsageError } from '../../errors.ts';
import { type FileKind, kindOf } from './file-kind.ts';
import { explaining } from './sqlite-errors.ts';

/** The name of the setting, for errors about a path. */
const setting = 'DOCMIRROR_DATABASE';

/**
 * The file behind a path: if the path is a symbolic link, the target. SQLite's log and docmirror's lock are beside that file, so
 * one mirror has one lock under all its names.
 *
 * @param name the flag or setting that gave the path, for the error.
 * @throws UsageError if no file can be at the path.
 */
export function fileBehind(path: string, name: string = setting): string {
  const refuse = (why: string) => new UsageError(`${name}: ${why}`);
  if (path.trim() === '') throw refuse('it is empty. Name a file.');
  if (path === ':memory:' || /^file:/i.test(path))
    throw refuse(`${path} is not a file on a disk. Name a file by its path.`);
  // SQLite's binding would drop the spaces and open another file.
  if (path.trim() !== path) throw refuse(`"${path}" begins or ends with a space. Name another file.`);
  const folder = dirname(path);
  const parent = usable(name, path, () => statSync(folder, { throwIfNoEntry: false }));
  if (parent === undefined)
    throw refuse(`the folder ${folder} does not exist. Make it, or name another file.`);
  if (!parent.isDirectory()) throw refuse(`the way to ${path} leads through a file. Name another one.`);
  // This is the longest ending of a name beside a mirror.
  usable(name, path, () => lstatSync(`${path}.lock-journal`, { throwIfNoEntry: false }));
  const stat = usable(name, path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stat?.isSymbolicLink()) return fileBehind(realPath(path, name), name);
  if (stat?.isDirectory() || /(?:^|[/\\])\.{0,2}$/.test(path))
    throw refuse(`${path} is a folder. Name a file in it.`);
  if (stat?.isFile() === false) throw refuse(`${path} is not a regular file. Name another one.`);
  return path;
}

/** Looks at the path that a setting gave; if the path itself is wrong, the error names the setting. */
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
 * @param name the flag or setting that gave the path, for the error.
 * @throws UsageError if it leads to none.
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
 * The file behind the path of a mirror that will be written; it need not exist yet.
 *
 * @throws UsageError if no file can be at the path.
 * @throws RefusedFileError if something else is there, or the mirror has a second hard link.
 */
export function mirrorToWrite(path: string): string {
  const file = fileBehind(path);
  const kind = explaining(file, () => kindOf(file));
  if (!['none', 'empty', 'mirror'].includes(kind)) throw refusal(path, kind);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat !== undefined) assertOneName(file, stat);
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

/** Says why a file can't be the mirror. */
export function refusal(path: string, kind: FileKind): RefusedFileError {
  switch (kind) {
    case 'old mirror':
      return new RefusedFileError(
        `${path} was made by docmirror 0.1 or 0.2, which this version can't upgrade. Move it and ${path}.staging away, and run "docmirror sync": it makes a new mirror. The old version still reads the old file.`,
        { code: 'mirror_too_old' },
      );
    case 'share':
      return new RefusedFileError(
        `${path} is a share, a copy for readers. Name the mirror that it was made from.`,
      );
    case 'lock':
      return new RefusedFileError(`${path} is the lock of a mirror. Name the mirror itself.`);
    case 'another database':
      return new RefusedFileError(
        `${path} is an SQLite database of another program. It was left as it is; name another file for the mirror.`,
      );
    default:
      return new RefusedFileError(
        `${path} is not an SQLite database. It was left as it is; name another file for the mirror.`,
      );
  }
}

/** @throws RefusedFileError if a mirror has a second name: another run could write it under that name, with a lock of its own. */
export function assertOneName(path: string, { nlink }: Stats): void {
  if (nlink <= 1) return;
  throw new RefusedFileError(
    `${path} has a second name (a hard link), under which another run could write it. Remove one of the names.`,
  );
}
