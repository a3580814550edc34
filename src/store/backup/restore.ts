import { chmodSync, existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { DamagedCopyError, MirrorFileError, RefusedFileError, UsageError } from '../../errors.ts';
import { isSameFile } from '../file/file-identity.ts';
import { damageOf } from '../file/integrity-check.ts';
import { holdLock } from '../file/lock-file.ts';
import { laterShape, type Shape, shapeOf } from '../file/migrate.ts';
import { differentMirrors, identityOf } from '../file/mirror-identity.ts';
import { isYetToMake, mirrorToWrite } from '../file/mirror-path.ts';
import { type MirrorFile, openOfAnyShape } from '../file/open.ts';
import { shareOwner } from '../file/private-file.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { putDatabaseInPlace, removeUnfinished, unfinishedPath } from '../file/unfinished.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { brokenReferences } from '../tables/references.ts';
import type { Verification, verifyMirror } from '../verify/verify.ts';
import type { BackupOptions } from './backup.ts';
import { copyMirror } from './copy.ts';

// All by hand: a look that opens the file, whatever its shape.

/** The result of a restore. The mirror is replaced if the copy is sound. Otherwise it is unchanged. */
interface Restored {
  readonly path: string;
  readonly bytes: number;
  /** The service of the backup's mirror; null if the copy does not say. */
  readonly baseUrl: string | null;
  readonly mirrorId: string | null;
  /** The newest ended run in the copy; 0 if there is none. */
  readonly newestRunId: number;
  /** The audit of the copy; null if it is of an older shape. Then only SQLite has checked it. */
  readonly verification: Verification | null;
}

/** How a backup is restored. */
interface RestoreOptions extends BackupOptions {
  /** The function that audits the copy. */
  readonly verify: typeof verifyMirror;
  /** The service in the settings: a backup of another one is not restored if there is no mirror yet. Null if there is none. */
  readonly baseUrl: string | null;
}

/** How long to wait for a reader of the mirror that is replaced, in milliseconds. */
const readerWaitMs = 10_000;

/**
 * Puts a copy of a mirror in the mirror's place, while no run uses it. The copy is written beside it and audited first. Files that
 * SQLite left beside the old mirror are removed before the new one gets its name, because they must not be taken for a part of it.
 *
 * @throws UsageError, RefusedFileError if the target or the copy is not a mirror's file; both are unchanged.
 * @throws MirrorBusyError if a run is using the mirror.
 * @throws DamagedCopyError if the copy is damaged.
 * @throws MirrorFileError if it can't be written, or another program does not release the mirror.
 */
export async function restore(
  copy: string,
  target: string,
  { verify, baseUrl, ...options }: RestoreOptions,
): Promise<Restored> {
  const path = mirrorToWrite(target);
  if (isSameFile(copy, path)) throw new UsageError(`${copy} is the mirror itself. Name a backup of it.`);
  assertSameMirror(copy, path);
  if (isYetToMake(path)) assertSameService(copy, baseUrl);
  const giveBack = holdLock(path);
  const unfinished = unfinishedPath(path);
  try {
    const { shape, newestRunId } = await copyAny(copy, unfinished, options).catch((error: unknown) => {
      throw isDamage(error) ? notRestored(copy) : error;
    });
    const { size: bytes } = statSync(unfinished);
    const verification = shape === 'older' ? null : await verify(unfinished, options);
    const named = verification && namedBy(verification, unfinished, copy);
    const restored = { path, bytes, newestRunId, verification: named, ...identityOf(copy) };
    if (verification !== null && verification.differenceCount > 0) return restored;
    replaceMirror(unfinished, path);
    openOfAnyShape(path, sqlite => sqlite.prepare('SELECT count(*) FROM sync_runs').get()).close();
    return restored;
  } catch (error) {
    throw explainSqliteError(error, path);
  } finally {
    removeUnfinished(unfinished);
    giveBack();
  }
}

/** The audit of the unfinished copy, with the name of the backup that it was made from. Nobody would find the unfinished file. */
function namedBy(verification: Verification, unfinished: string, copy: string): Verification {
  const differences = verification.differences.map(difference => ({
    ...difference,
    what: difference.what.replaceAll(unfinished, copy),
  }));
  return { ...verification, path: copy, differences };
}

/** Refuses a copy of another mirror. A mirror that can't be read is no reason to refuse, because a restore is made to replace it. */
function assertSameMirror(copy: string, path: string): void {
  const different = differentMirrors(copy, path);
  if (different === null) return;
  throw new RefusedFileError(
    `${copy} is a copy of another mirror (${different[0]}) than ${path} (${different[1]}). Both were left as they are; move the mirror away first, if that is what you want.`,
  );
}

/** If there is no mirror yet, only the service shows that the backup is another tenant's. */
function assertSameService(copy: string, wanted: string | null): void {
  const { baseUrl } = identityOf(copy);
  if (wanted === null || baseUrl === null || baseUrl === wanted) return;
  throw new RefusedFileError(
    `${copy} is a backup of the mirror of ${baseUrl}, and the settings name ${wanted}. Nothing was restored; name another backup or, if the service has moved, set DOCMIRROR_BASE_URL to the old address for this command.`,
  );
}

async function copyAny(
  copy: string,
  unfinished: string,
  options: BackupOptions,
): Promise<{ shape: Shape; newestRunId: number }> {
  using file = openOfAnyShape(copy, sqlite => {
    const shape = shapeOf(sqlite);
    if (shape === 'later') throw laterShape(copy);
    if (shape === 'empty') throw new RefusedFileError(`${copy} is empty. Name a backup of a mirror.`);
  });
  const shape = shapeOf(file.sqlite);
  if (shape === 'older' && !isWhole(file)) throw notRestored(file.path);
  const newestRunId = new EndedRuns(file.sqlite).newest() ?? 0;
  await copyMirror(file, unfinished, options);
  return { shape, newestRunId };
}

/** An audit needs the tables of this version. This check works for a file of any shape. */
function isWhole({ sqlite }: MirrorFile): boolean {
  return damageOf(sqlite) === null && brokenReferences(sqlite).next().done === true;
}

function notRestored(path: string): DamagedCopyError {
  return new DamagedCopyError(`${path} is damaged, so it was not restored. Name another backup.`);
}

function isDamage(error: unknown): boolean {
  const cause = error instanceof MirrorFileError ? error.cause : error;
  return cause instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(cause.code);
}

function replaceMirror(unfinished: string, path: string): void {
  if (existsSync(path)) {
    foldLog(path);
    // The mode can have been changed, so that others can read the mirror.
    chmodSync(unfinished, statSync(path).mode);
    shareOwner(unfinished, path);
  }
  putDatabaseInPlace(unfinished, path);
}

/** Makes the old mirror one file: if this process is killed during the replacement, the old mirror is still complete. */
function foldLog(path: string): void {
  const sqlite = new Database(path, { timeout: readerWaitMs });
  try {
    sqlite.prepare('SELECT count(*) FROM sqlite_schema').get();
    const [{ busy }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    if (busy !== 0) {
      throw new MirrorFileError(`${path} is being read by another program. Try again when it is done.`, {
        code: 'database_locked',
      });
    }
  } catch (error) {
    // A restore is made to replace a damaged mirror.
    if (!isDamage(error)) throw error;
  } finally {
    sqlite.close();
  }
}
