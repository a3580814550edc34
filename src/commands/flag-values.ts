import { durationMs, wholeNumber } from '../config/resolve.ts';
import { instantMs } from '../contract/time.ts';
import { UsageError } from '../errors.ts';
import type { Pruned } from '../store/receipts/pruned.ts';
import type { EndedRuns } from '../store/tables/ended-runs.ts';

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

/**
 * A point in time as docmirror records it; without a zone it is UTC.
 *
 * @throws UsageError that names the flag.
 */
export function instantOf(flag: string, text: string): string {
  const ms = instantMs(text.trim());
  if (ms === null) {
    throw new UsageError(
      `${flag}: expected a date or time such as 2026-11-20 or 2026-11-20T18:00:00Z, got ${JSON.stringify(text)}`,
    );
  }
  return new Date(ms).toISOString();
}

/** True if a flag gives a length of time, for example `24h`, and no date. */
export function isLength(text: string): boolean {
  return /^\s*\d+(\.\d+)?\s*[a-z]/i.test(text);
}

/**
 * A point in time as docmirror records it: one that is named, or so long before now.
 *
 * @throws UsageError that names the flag.
 */
export function momentOf(flag: string, text: string, nowMs: number): string {
  if (!isLength(text)) return instantOf(flag, text);
  // Before the year 0 nothing was recorded.
  return new Date(Math.max(0, nowMs - durationMs(flag, text))).toISOString();
}

/** A note about deleted history for a reader of the changes since a run; null if nothing was deleted. */
export function noteOnPruned(sinceRunId: number, { before, throughRunId }: Pruned): string | null {
  if (sinceRunId >= throughRunId) return null;
  return `Versions that ended before ${before} were deleted (DOCMIRROR_KEEP_HISTORY), so what the runs up to ${throughRunId} updated and removed is not all there. After run ${throughRunId} nothing is missing.`;
}

/**
 * True if texts that a spreadsheet would run are to be made harmless.
 *
 * @throws UsageError if it is used with another format.
 */
export function isForSpreadsheet(flags: {
  readonly format: string;
  readonly spreadsheet?: boolean;
}): boolean {
  if (flags.spreadsheet && flags.format !== 'csv')
    throw new UsageError('--spreadsheet goes with --format csv.');
  return flags.spreadsheet ?? false;
}
