import { CancelledError, DocmirrorError } from '../errors.ts';
import type { Applied, ListOutcome, RunError, Traffic } from './ports.ts';
import type { ListProgress } from './read.ts';

/** How a list ended, and how many rows were written. */
export type Ending = Pick<
  ListOutcome,
  'status' | 'completeness' | 'error' | 'reason' | Exclude<keyof Applied, 'recordCount'>
>;

/**
 * How a list ends that was written.
 *
 * @param unproven why it is not proven; null if it is.
 */
export function ended(
  mode: 'full' | 'incremental',
  unproven: string | null,
  { recordCount: _recordCount, ...counts }: Applied,
): Ending {
  const completeness = unproven !== null ? 'unproven' : mode === 'full' ? 'proven' : 'incremental';
  const isWhole = unproven === null && counts.rejected === 0 && counts.removalsWithheld === 0;
  const reasons = [unproven, whyWithheld(counts)];
  return {
    status: isWhole ? 'completed' : 'partial',
    completeness,
    ...counts,
    error: null,
    reason: reasons.filter(each => each !== null).join('; ') || null,
  };
}

/** Why records that are gone were not removed; null if nothing was withheld. */
function whyWithheld({
  removalsWithheld,
  rejected,
  changedIdentity,
}: Pick<Applied, 'removalsWithheld' | 'rejected' | 'changedIdentity'>) {
  if (removalsWithheld === 0) return null;
  if (rejected > 0)
    return 'removals were withheld because some records could not be read; a missing record might be one of them';
  const why = 'removals were withheld because they are more than DOCMIRROR_MAX_REMOVALS allows';
  return changedIdentity === null
    ? why
    : `as many new records differ from the missing ones only in ${changedIdentity}; ${why}`;
}

const nothingWritten = {
  inserted: 0,
  updated: 0,
  removed: 0,
  unchanged: 0,
  rejected: 0,
  removalsWithheld: 0,
  changedIdentity: null,
  undecided: 0,
  newFields: [],
  emptiedColumns: [],
  checksum: null,
};

/** How an error ends a list, also a fault of docmirror itself. */
export function failed(error: unknown): Ending {
  const status = error instanceof CancelledError ? 'cancelled' : 'failed';
  return { status, completeness: null, ...nothingWritten, error: runErrorOf(error), reason: null };
}

/** An error as it is recorded; an unexpected one is a fault of docmirror itself, `internal`. */
export function runErrorOf(error: unknown): RunError {
  if (error instanceof DocmirrorError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** The facts about the readings of a list, however it ended. */
export function describeReading({ envelope, total, walks }: ListProgress, seenCount: number) {
  const pageCount =
    envelope === null
      ? null
      : total === null || total === 0
        ? envelope.pageCount
        : Math.ceil(total / envelope.pageSize);
  return {
    firstPageNo: envelope?.firstPageNo ?? null,
    pageSize: envelope?.pageSize ?? null,
    pageCount,
    totalRecordCount: total,
    recordsSeen: seenCount,
    walks,
  };
}

/** The traffic of a list: the traffic of its source now, minus that of before. */
export function trafficSince(before: Traffic, now: Traffic): Traffic {
  return {
    requests: now.requests - before.requests,
    retries: now.retries - before.retries,
    bytes: now.bytes - before.bytes,
    waitedMs: now.waitedMs - before.waitedMs,
  };
}
