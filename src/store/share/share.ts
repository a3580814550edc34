import { chmodSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../../errors.ts';
import { FileWriteError } from '../file/atomic-file.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { shareOwner } from '../file/private-file.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { putDatabaseInPlace, removeLeftovers, removeUnfinished, unfinishedPath } from '../file/unfinished.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { buildShare } from './build-share.ts';
import { compact, runStatements, type ShareSql } from './share-sql.ts';
import { stateText } from './share-state.ts';
import { type SharePlace, shareTarget } from './share-target.ts';
import { Withheld } from './withheld.ts';

/** How a share is made. */
export interface ShareOptions extends SharePlace {
  /** API names of the fields that it leaves out, for example `sourceDocumentTitle` or `webhooks.description`. */
  readonly without: readonly string[];
  readonly withHistory: boolean;
  readonly sql: ShareSql | null;
  readonly signal: AbortSignal;
}

/** A share that was made. */
export interface Share {
  readonly path: string;
  /** The newest run that it contains; null if no run has ended yet. */
  readonly runId: number | null;
  readonly bytes: number;
  /** Views that can't be read, because the share leaves something out or its statements dropped something. */
  readonly leftOut: readonly string[];
}

/** The mode of a new share: everybody can read it. */
const shareMode = 0o644;

/**
 * Makes a copy of a mirror that everybody can read, and puts it in its place in one step. A reader that has the old share open can
 * go on reading it. This takes no lock and changes no row of the mirror. If it fails, the old share is unchanged.
 *
 * @throws UsageError, RefusedFileError if the target must not be replaced, or the source is no mirror.
 * @throws MirrorFileError if the mirror can't be read, or the share can't be written.
 * @throws DocmirrorError with the code `share_failed` if the statements fail.
 */
export async function makeShare(options: ShareOptions): Promise<Share> {
  const path = shareTarget(options);
  const [built, compacted] = [unfinishedPath(path), unfinishedPath(path)];
  const { without, withHistory, sql, signal, database } = options;
  try {
    removeLeftovers(dirname(resolve(path)));
    const selection = { withheld: new Withheld(without), withHistory };
    const { leftOut: others, hasFreePages } = await buildShare(built, database, { selection, signal });
    const leftOut = [...others];
    if (sql !== null) leftOut.push(...runStatements(built, sql));
    const isCompact = sql === null && !hasFreePages;
    if (!isCompact) compact(built, compacted);
    const finished = isCompact ? built : compacted;
    const runId = newestRunIn(finished);
    const { size: bytes } = statSync(finished);
    place(finished, path);
    return { path, runId, bytes, leftOut };
  } catch (error) {
    throw isOfMirror(error) ? explainSqliteError(error, database) : writeError(error, path);
  } finally {
    for (const unfinished of [built, compacted]) removeUnfinished(unfinished);
  }
}

function writeError(error: unknown, path: string): unknown {
  return /^E[A-Z]+$/.test(codeOf(error) ?? '')
    ? new FileWriteError(path, error)
    : explainSqliteError(error, path);
}

/** True if SQLite failed to read the mirror; false if it failed to write the share. */
function isOfMirror(error: unknown): boolean {
  return /^SQLITE_(?!FULL|IOERR)/.test(codeOf(error) ?? '');
}

function newestRunIn(path: string): number | null {
  using share = openForReading(path);
  return new EndedRuns(share.sqlite).newest();
}

/** Moves a share to its place, with the mode and the owner of the file that it replaces. */
function place(finished: string, path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  shareOwner(finished, path);
  chmodSync(finished, mode === undefined ? shareMode : mode & 0o777);
  putDatabaseInPlace(finished, path);
}

/** True if a share that is made now would be the same as the existing one. */
export function isCurrent(place: SharePlace): boolean {
  const path = shareTarget(place);
  using mirror = openForReading(place.database);
  return stateText(mirror.sqlite) === stateOfShare(path);
}

/** The state text of a share; null if there is no share, or it can't be read. */
function stateOfShare(path: string): string | null {
  try {
    using share: MirrorFile = openForReading(path);
    return stateText(share.sqlite);
  } catch {
    return null;
  }
}
