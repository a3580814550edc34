import { lstatSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RefusedFileError, UsageError } from '../../errors.ts';
import { isSameFile } from '../file/file-identity.ts';
import { kindOf } from '../file/file-kind.ts';
import { lockPath } from '../file/lock-file.ts';
import { differentMirrors } from '../file/mirror-identity.ts';
import { fileBehind } from '../file/mirror-path.ts';
import { openMirrorForReading } from '../file/open.ts';
import { explaining, explainSqliteError } from '../file/sqlite-errors.ts';
import {
  putDatabaseInPlace,
  putInNewPlace,
  removeLeftovers,
  removeUnfinished,
  unfinishedPath,
} from '../file/unfinished.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { type Verification, verifyMirror } from '../verify/verify.ts';
import { type CopyOptions, copyMirror } from './copy.ts';
import { assertManifestFits, manifestBeside } from './manifest.ts';

/** How a backup is made and checked. */
export interface BackupOptions extends CopyOptions {
  /** The most differences that are listed if the copy is not sound. */
  readonly limit: number;
  /** Gives another name if the destination is taken meanwhile. If it is left out, an older backup there is replaced. */
  readonly nextName?: () => string;
}

/** The result of a backup. The copy has its name only if its verification found no difference. Otherwise it was removed. */
export interface Backup {
  readonly path: string;
  readonly bytes: number;
  /** The newest run that had ended; 0 if none had. */
  readonly newestRunId: number;
  readonly verification: Verification;
}

/**
 * Copies a mirror, even if runs write to it meanwhile. The copy is one state of the mirror. It is written beside its final name,
 * made a single file that opens anywhere, and audited against its own run records. Only then is it given its name and opened under
 * it.
 *
 * @throws UsageError, RefusedFileError if the destination can't be one; an existing file is not changed.
 * @throws MirrorFileError if there is no mirror, or the copy can't be written.
 */
export async function backUp(source: string, destination: string, options: BackupOptions): Promise<Backup> {
  const wanted = destinationFile(source, destination);
  assertManifestFits(wanted);
  removeLeftovers(dirname(resolve(wanted)));
  const unfinished = unfinishedPath(resolve(wanted));
  try {
    const newestRunId = await copyOf(source, unfinished, options);
    const verification = await verifyMirror(unfinished, options);
    const { size: bytes } = statSync(unfinished);
    if (verification.differenceCount > 0)
      return {
        path: wanted,
        bytes,
        newestRunId,
        verification: { ...verification, path: `The copy of ${source}` },
      };
    // An older manifest is not that of the new copy.
    if (options.nextName === undefined) rmSync(manifestBeside(wanted), { force: true });
    const path = place(unfinished, wanted, options.nextName);
    openMirrorForReading(path).close();
    return { path, bytes, newestRunId, verification: { ...verification, path } };
  } catch (error) {
    throw explainSqliteError(error, wanted);
  } finally {
    removeUnfinished(unfinished);
  }
}

/** Gives the copy its name, and returns it. If it must be a new name and is taken meanwhile, it gets another one. */
function place(unfinished: string, wanted: string, nextName: BackupOptions['nextName']): string {
  let path = wanted;
  for (;;) {
    if (nextName === undefined) {
      putDatabaseInPlace(unfinished, path);
      return path;
    }
    if (putInNewPlace(unfinished, path)) return path;
    path = nextName();
  }
}

/** Copies a mirror, and returns the newest run that has ended in the copy; 0 if there is none. */
async function copyOf(source: string, unfinished: string, options: CopyOptions): Promise<number> {
  using file = openMirrorForReading(source);
  await copyMirror(file, unfinished, options);
  // A run might have ended while the mirror was copied, so this asks the copy.
  using copy = openMirrorForReading(unfinished);
  return new EndedRuns(copy.sqlite).newest() ?? 0;
}

/** The file to write: one that does not exist yet, or an older backup. */
function destinationFile(source: string, destination: string): string {
  const path = fileBehind(destination, 'DEST');
  if (isSameFile(path, source))
    throw new UsageError(`${destination} is the mirror itself. Name another file.`);
  const kind = explaining(path, () => kindOf(path));
  if (!['none', 'empty', 'mirror'].includes(kind)) {
    throw new RefusedFileError(
      `${destination} is not a backup of a mirror. It was left as it is; name another file.`,
    );
  }
  const different = kind === 'mirror' ? differentMirrors(path, source) : null;
  if (different !== null) {
    throw new RefusedFileError(
      `${destination} is another mirror (${different[0]}), or a backup of it, and no backup of ${source} (${different[1]}). It was left as it is; name another file.`,
    );
  }
  if (lstatSync(lockPath(path), { throwIfNoEntry: false }) !== undefined) {
    throw new RefusedFileError(
      `${destination} is a mirror that runs write to: ${lockPath(path)} lies beside it. Name another file.`,
    );
  }
  return path;
}
