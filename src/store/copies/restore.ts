import { chmodSync, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, exitCodes, MirrorFileError, RefusedFileError, UsageError } from '../../errors.ts';
import { DatabaseCopy, shareOwner } from '../file/atomic-file.ts';
import { MirrorLock } from '../file/lock-file.ts';
import { fileBehind, isYetToMake, mirrorToWrite } from '../file/mirror-path.ts';
import { assertNotLater, openOfAnyShape, shapeOf } from '../file/open.ts';
import { damageOf, explainSqliteError } from '../file/sqlite-errors.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import type { Verification, VerifyOptions, verifyMirror } from '../verify/verify.ts';
import { differentMirrors, identityOf } from './identity.ts';

/** The result of a restore. The mirror is replaced if the copy is sound. Otherwise it is unchanged. */
interface Restored {
  readonly path: string;
  readonly bytes: number;
  /** The service of the backup's mirror; null if the copy does not say. */
  readonly baseUrl: string | null;
  readonly mirrorId: string | null;
  /** The newest ended run in the copy; 0 if there is none. */
  readonly runId: number;
  /** The audit of the copy; null if it is of an older shape. Then only SQLite has checked it. */
  readonly verification: Verification | null;
}

/** How a backup is restored. */
interface RestoreOptions extends VerifyOptions {
  /** The function that audits the copy. */
  readonly verify: typeof verifyMirror;
  /** The service in the settings: a backup of another one is not restored if there is no mirror yet. Null if there is none. */
  readonly baseUrl: string | null;
}

/**
 * Puts a copy of a mirror in the mirror's place, while no run uses it. The copy is written beside it and audited first.
 *
 * @throws UsageError, RefusedFileError if the target or the copy is not a mirror's file; both are unchanged.
 * @throws MirrorBusyError if a run is using the mirror.
 * @throws MirrorFileError if the copy is damaged.
 * @throws MirrorFileError if it can't be written.
 */
export async function restore(
  copy: string,
  target: string,
  { verify, baseUrl, ...options }: RestoreOptions,
): Promise<Restored> {
  const path = mirrorToWrite(target);
  if (resolve(fileBehind(copy)) === resolve(path))
    throw new UsageError(`${copy} is the mirror itself. Name a backup of it.`);
  assertBelongsTo(copy, path, baseUrl);
  using _lock = new MirrorLock(path);
  using file = new DatabaseCopy(path);
  try {
    const { isOlder, runId } = fill(file, copy);
    options.signal.throwIfAborted();
    const { size: bytes } = statSync(file.unfinished);
    const verification = isOlder ? null : { ...(await verify(file.unfinished, options)), path: copy };
    const restored = { path, bytes, runId, verification, ...identityOf(copy) };
    if (verification !== null && verification.differenceCount > 0) return restored;
    if (existsSync(path)) {
      // The mode can have been changed, so that others can read the mirror.
      chmodSync(file.unfinished, statSync(path).mode);
      shareOwner(file.unfinished, path);
    }
    file.putInPlace();
    return restored;
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/**
 * Refuses a copy of another mirror. If there is no mirror yet, only the service shows that the backup is another tenant's. A mirror
 * that can't be read is no reason to refuse, because a restore is made to replace it.
 */
function assertBelongsTo(copy: string, path: string, wanted: string | null): void {
  const different = differentMirrors(copy, path);
  if (different !== null)
    throw new RefusedFileError(
      `${copy} is a copy of another mirror (${different[0]}) than ${path} (${different[1]}). Both were left as they are; move the mirror away first, if that is what you want.`,
    );
  const { baseUrl } = identityOf(copy);
  if (!isYetToMake(path) || wanted === null || baseUrl === null || baseUrl === wanted) return;
  throw new RefusedFileError(
    `${copy} is a backup of the mirror of ${baseUrl}, and the settings name ${wanted}. Nothing was restored; name another backup or, if the service has moved, set DOCMIRROR_BASE_URL to the old address for this command.`,
  );
}

/** Copies a mirror of this version, which is audited afterwards, or of an older one, which only SQLite can check. */
function fill(file: DatabaseCopy, copy: string): { isOlder: boolean; runId: number } {
  const damaged = () =>
    new MirrorFileError(`${copy} is damaged, so it was not restored. Name another backup.`, {
      exitCode: exitCodes.difference,
    });
  try {
    using source = openOfAnyShape(copy);
    const { sqlite } = source;
    assertNotLater(sqlite, copy);
    const isOlder = shapeOf(sqlite) === 'older';
    if (isOlder && damageOf(sqlite) !== null) throw damaged();
    file.fill(sqlite);
    return { isOlder, runId: new EndedRuns(sqlite).newest() ?? 0 };
  } catch (error) {
    const cause = error instanceof MirrorFileError ? error.cause : error;
    throw /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(cause) ?? '') ? damaged() : error;
  }
}
