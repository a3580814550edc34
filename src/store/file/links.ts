import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RefusedFileError } from '../../errors.ts';

/** The most symbolic links that lead to one file, as of Linux itself. */
const linksMax = 40;

/** The path itself or, if it is a symbolic link, the file that it leads to, which need not exist yet. */
export function behindLink(path: string): string {
  const [, ...behind] = namesFrom(path);
  const last = behind.at(-1);
  if (last === undefined) return path;
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(last);
  if (existsSync(folder)) return join(realpathSync(folder), basename(last));
  const why = `a symbolic link to ${last}, and there is no folder ${folder}`;
  throw new RefusedFileError(`${path} is ${why}. Make the folder, or name another file.`);
}

/** True for a path that means standard output, however it is written: `/dev/stdout`, `/dev/fd/1`, a link to one of them. */
export function isStandardOutput(path: string): boolean {
  return namesFrom(resolve(path)).some(name => /^\/(dev|proc\/self)\/fd\/1$/.test(name));
}

/** True for a path that means a file that this process has open. It can be written to, but not be replaced. */
export function isOpenFile(path: string): boolean {
  return namesFrom(resolve(path)).some(name => /^\/(dev|proc\/[^/]+)\/fd\/\d+$/.test(name));
}

function namesFrom(path: string): string[] {
  const names = [path];
  try {
    for (let at = path; names.length <= linksMax; names.push(at)) {
      if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() !== true) break;
      at = resolve(realpathSync(dirname(at)), readlinkSync(at));
    }
  } catch {
    // A name that is too long, or a closed folder: opening the file says so.
  }
  return names;
}
