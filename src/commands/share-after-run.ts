import { statSync } from 'node:fs';
import type { Config } from '../config/resolve.ts';
import { readSmallFile } from '../config/small-file.ts';
import type { RunShare } from '../render/run-summary.ts';
import { isCurrent, makeShare } from '../store/share/share.ts';
import type { ShareSql } from '../store/share/share-sql.ts';
import { shareTarget } from '../store/share/share-target.ts';
import { runErrorOf } from '../sync/list-outcome.ts';
import type { Logger } from './logging.ts';

/** More than a person writes by hand, in bytes. */
const sqlBytesMax = 1024 * 1024;

/**
 * Reads the statements that run on a share; null if none are named.
 *
 * @param name the flag or variable that gave the path, for the error.
 * @throws UsageError if they can't be read.
 */
export async function readShareSql(name: string, path: string | null): Promise<ShareSql | null> {
  return path === null ? null : { path, text: readSmallFile(`${name}: `, path, sqlBytesMax) };
}

const setting = 'DOCMIRROR_SHARE';

type ShareSettings = Pick<Config, 'database' | 'share' | 'shareSql'>;

/**
 * Makes sure, before a run begins, that a share can follow it.
 *
 * @throws UsageError, RefusedFileError if the existing file must not be replaced, or the statements can't be read.
 */
export async function assertShareFits({ database, share, shareSql }: ShareSettings): Promise<void> {
  if (share === null) return;
  shareTarget({ database, target: share, name: setting });
  await readShareSql('DOCMIRROR_SHARE_SQL', shareSql);
}

interface AfterRun {
  readonly config: ShareSettings;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Makes the share again after a run, if its content would differ now. It is called while the run holds the mirror's lock, so that
 * shares follow each other in the order of runs. A failure is logged and returned, never thrown. A run that was told to stop leaves
 * the share to the next one.
 *
 * @returns null if no share is set.
 */
export async function shareAfterRun({ config, logger, signal }: AfterRun): Promise<RunShare | null> {
  const { database, share: target, shareSql } = config;
  if (target === null) return null;
  const startedAtMs = performance.now();
  try {
    signal.throwIfAborted();
    const place = { database, target, name: setting };
    if (isCurrent(place) && !isNewer(shareSql, target)) return { path: target, error: null };
    const sql = await readShareSql('DOCMIRROR_SHARE_SQL', shareSql);
    const { path, runId, bytes } = await makeShare({ ...place, without: [], withHistory: true, sql, signal });
    const durationMs = Math.round(performance.now() - startedAtMs);
    logger.info({ path, runId, bytes, durationMs }, 'share made');
    return { path: target, error: null };
  } catch (error) {
    const why = runErrorOf(error);
    if (!signal.aborted) logger.error({ path: target, error: why }, 'the share could not be made');
    return { path: target, error: why };
  }
}

/** True if the statements have changed since the share was made. */
function isNewer(shareSql: string | null, share: string): boolean {
  return shareSql !== null && statSync(shareSql).mtimeMs > statSync(share).mtimeMs;
}
