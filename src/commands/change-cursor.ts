import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { wholeNumber } from '../config/resolve.ts';
import { readSmallFile } from '../config/small-file.ts';
import { DocmirrorError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { assertReplaceable } from '../store/file/atomic-file.ts';
import { type ChangeKey, cursorText, readCursor } from '../store/read/change-cursor.ts';
import type { MirrorReader } from '../store/read/mirror-reader.ts';
import type { Pruned } from '../store/receipts/pruned.ts';
import type { EndedRuns } from '../store/tables/ended-runs.ts';
import { writeNamed } from './named-file.ts';

/** The flags by which a program reads all changes, each once. */
export interface CursorFlags {
  readonly cursor: string | null;
  readonly next: string | null;
  readonly from: 'first' | 'now' | null;
  readonly sinceRun: string | null;
  readonly untilRun?: string | null;
}

/** Which changes are asked for. */
export interface ChangeRange {
  /** Changes of later runs than this, 0 for the time before the first. */
  readonly sinceRunId: number;
  readonly untilRunId: number;
  /** Only changes after this one; null for all of these runs. */
  readonly after: ChangeKey | null;
}

/**
 * Refuses flags that say nothing without a cursor, and files that would be lost.
 *
 * @throws UsageError that names the flag.
 */
export function assertCursorFlags({ cursor, next, from }: CursorFlags): void {
  for (const [flag, value] of Object.entries({ '--next': next, '--from': from }))
    if (value !== null && cursor === null) throw new UsageError(`${flag} goes with --cursor.`);
  if (next === null) return;
  assertReplaceable(next);
  if (resolve(next) === resolve(cursor ?? ''))
    throw new UsageError(
      '--next: name another file than --cursor, and move it there when you have processed the changes.',
    );
}

/**
 * The changes after a cursor; without one, after --since-run, or everything.
 *
 * @throws UsageError if the file is no cursor.
 * @throws DocmirrorError with code `cursor_lost` if this mirror can't tell what comes after it.
 */
export async function rangeOfCursor(flags: CursorFlags, reader: MirrorReader): Promise<ChangeRange> {
  const { endedRuns, cursors } = reader;
  const newest = endedRuns.newest() ?? 0;
  const untilRunId = untilRunOf(flags, reader) ?? newest;
  const { cursor: file, sinceRun, from } = flags;
  if (sinceRun !== null)
    return { sinceRunId: runOf('--since-run', sinceRun, endedRuns, 0), untilRunId, after: null };
  if (file === null || !existsSync(file))
    return { sinceRunId: from === 'now' ? newest : 0, untilRunId, after: null };
  const cursor = readCursor(readSmallFile('--cursor: ', file, cursorBytesMax));
  if (cursor === null)
    throw new UsageError(`--cursor: ${file} is not a cursor of docmirror. Name the file that --next wrote.`);
  const loss = cursors.loss(cursor);
  if (loss !== null)
    throw new DocmirrorError(
      'cursor_lost',
      `The cursor in ${printable(file)} ${loss.why}. ${sharedText(loss.sharedRunId)} Nothing was written.`,
    );
  return { sinceRunId: cursor.runId, untilRunId, after: cursor.after };
}

/** The run that --until-run names; null if it is not given. */
export function untilRunOf({ untilRun = null }: CursorFlags, { endedRuns }: MirrorReader): number | null {
  return untilRun === null ? null : runOf('--until-run', untilRun, endedRuns);
}

/** Writes the cursor after all that a range contains, if --next names a file. */
export function writeNext({ next }: CursorFlags, { cursors }: MirrorReader, range: ChangeRange): void {
  if (next === null) return;
  const { sinceRunId, untilRunId, after } = range;
  const cursor = untilRunId > sinceRunId ? cursors.at(untilRunId) : cursors.at(sinceRunId, after);
  writeNamed('--next', next, cursorText(cursor));
}

const cursorBytesMax = 64 * 1024;

function sharedText(runId: number): string {
  const goOn = `--since-run ${runId}`;
  return runId === 0
    ? `They share no run. Remove what you took from it, and begin again with ${goOn}.`
    : `The newest run that both share is ${runId}. Go on from there with ${goOn}.`;
}

/**
 * The run that a flag names, 0 for the time before the first.
 *
 * @throws UsageError if the run does not exist or has not ended.
 */
export function runOf(flag: string, text: string, runs: EndedRuns, min = 1): number {
  const runId = wholeNumber(flag, text, min, Number.MAX_SAFE_INTEGER);
  if (runId === 0 || runs.has(runId)) return runId;
  const newest = runs.newest();
  const known = newest === null ? 'no run has ended yet' : `the newest that has ended is ${newest}`;
  throw new UsageError(`${flag}: there is no run ${runId}; ${known}. "docmirror runs" lists them.`);
}

/** A note about deleted history for a reader of the changes since a run; null if nothing was deleted. */
export function noteOnPruned(sinceRunId: number, { before, throughRunId }: Pruned): string | null {
  if (sinceRunId >= throughRunId) return null;
  return `Versions that ended before ${before} were deleted (DOCMIRROR_KEEP_HISTORY), so what the runs up to ${throughRunId} updated and removed is not all there. After run ${throughRunId} nothing is missing.`;
}
