import { existsSync, statSync } from 'node:fs';
import { codeOf, MirrorFileError } from '../../errors.ts';
import { mirrorToWrite } from '../../store/file/mirror-path.ts';
import { connectToRead } from '../../store/file/read-connection.ts';
import { assertStagingOrNone, stagingPath } from '../../store/file/staging-file.ts';
import { type Verification, verifyMirror } from '../../store/verify/verify.ts';

// All that `doctor` asks of the store. Neither makes a file or changes one.

/**
 * True where a run holds this mirror.
 *
 * @throws RefusedFileError where something else lies in the place of its lock.
 */
export function isHeld(database: string): boolean {
  const path = stagingPath(database);
  if (!existsSync(path)) return false;
  assertStagingOrNone(path);
  const { sqlite, close } = connectToRead(path, true, 0);
  try {
    sqlite.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
  } finally {
    close();
  }
}

/**
 * Audits the mirror, as `verify` does; null where there is none yet.
 *
 * @throws MirrorFileError where the file is no mirror of this docmirror.
 */
export async function auditMirror(database: string, signal: AbortSignal): Promise<Verification | null> {
  const stat = statSync(database, { throwIfNoEntry: false });
  if (stat === undefined || stat.size === 0) return null;
  if (!stat.isFile()) throw new MirrorFileError(`${database} is no file.`);
  // What is not ours is refused here, as every command does; an audit would call it damaged.
  mirrorToWrite(database);
  return verifyMirror(database, { limit: 1, signal });
}
