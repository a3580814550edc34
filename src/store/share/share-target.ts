import { UsageError } from '../../errors.ts';
import { assertNotBeside } from '../file/beside.ts';
import { fileKey } from '../file/connections.ts';
import { findOut } from '../file/file-kind.ts';
import { firstBytes } from '../file/first-bytes.ts';
import { assertNameFits, fileBehind } from '../file/mirror-path.ts';
import { explaining } from '../file/sqlite-errors.ts';
import { stagingPath } from '../file/staging-file.ts';
import { unfinishedEnding } from '../file/unfinished.ts';

/** Which file becomes the share of which mirror. */
export interface SharePlace {
  readonly database: string;
  readonly target: string;
  /** What gave the target, for errors. */
  readonly name: string;
}

/**
 * Finds the file that a share replaces: a symbolic link stays, and the file behind it is replaced.
 *
 * @throws UsageError, RefusedFileError if it must not be replaced: a mirror, a lock, a key, a folder, or a name beside a database.
 */
export function shareTarget({ database, target, name }: SharePlace): string {
  const path = fileBehind(target, name);
  assertNameFits(name, path, unfinishedEnding);
  assertNotBeside(path, true);
  const key = fileKey(path);
  if (key === null) return path;
  // Told by their numbers: to open and close a file that this process has open would end its locks.
  const mirror = fileBehind(database);
  const isRuns = [mirror, stagingPath(mirror)].some(each => fileKey(each) === key);
  const kind = isRuns ? 'mirror' : explaining(path, () => kindOf(path));
  if (kind !== 'other') {
    const what = { mirror: 'a mirror', lock: "a mirror's lock", key: 'a key' }[kind];
    throw new UsageError(
      `${name}: ${path} is ${what}, which a share never replaces. It was left as it is; name another file.`,
    );
  }
  return path;
}

const keyBeginning = /^-----BEGIN [A-Z ]*KEY-----/;
const beginningBytes = 64;

function kindOf(path: string): 'mirror' | 'lock' | 'key' | 'other' {
  const { kind } = findOut(path);
  if (kind === 'mirror') return 'mirror';
  if (kind === 'staging') return 'lock';
  return keyBeginning.test(firstBytes(path, beginningBytes).toString('latin1')) ? 'key' : 'other';
}
