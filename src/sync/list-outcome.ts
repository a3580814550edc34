import { CancelledError, DocmirrorError } from '../errors.ts';
import type { Applied, ListOutcome, RunError, Traffic } from './ports.ts';
import type { IncrementalReport } from './read-edges.ts';
import type { Reading, ReadWalk } from './read-list.ts';

/** What was found out before a list ended, well or not. */
export interface Findings extends Reading {
  /** What an incremental sync saw, where it was enough. */
  incremental: IncrementalReport | null;
}

/** How a list ended, and what was written of it. */
export type Ending = Pick<
  ListOutcome,
  'status' | 'completeness' | 'error' | 'reason' | Exclude<keyof Applied, 'recordCount'>
>;

/** How a list ends that was written. */
export function ended(
  completeness: 'proven' | 'incremental' | 'unproven',
  reason: string | null,
  { recordCount: _recordCount, ...counts }: Applied,
): Ending {
  const isWhole = completeness !== 'unproven' && counts.rejected === 0 && counts.removalsWithheld === 0;
  const reasons = [reason, whyWithheld(counts)];
  return {
    status: isWhole ? 'completed' : 'partial',
    completeness,
    ...counts,
    error: null,
    reason: reasons.filter(each => each !== null).join('; ') || null,
  };
}

/** Why what is gone was not removed; null where nothing was withheld. */
function whyWithheld({ removalsWithheld, rejected }: Pick<Applied, 'removalsWithheld' | 'rejected'>) {
  if (removalsWithheld === 0) return null;
  return rejected > 0
    ? 'removals were withheld, for records were rejected, and what seems gone may be one of them'
    : 'removals were withheld, for they are more than DOCMIRROR_MAX_REMOVALS allows';
}

const nothingWritten = {
  inserted: 0,
  updated: 0,
  removed: 0,
  unchanged: 0,
  rejected: 0,
  removalsWithheld: 0,
  checksum: null,
};

/** How an error ends a list, also a fault of docmirror itself. */
export function failed(error: unknown): Ending {
  const status = error instanceof CancelledError ? 'cancelled' : 'failed';
  return { status, completeness: null, ...nothingWritten, error: runErrorOf(error), reason: null };
}

/** An error as it is recorded; what nobody foresaw is a fault of docmirror itself, `internal`. */
export function runErrorOf(error: unknown): RunError {
  if (error instanceof DocmirrorError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** What the readings of a list tell of it, however it ended. */
export function describeReading({ walks, walksBegun, incremental }: Findings) {
  const last = walks.at(-1);
  const usual = walks.findLast(
    ({ account }) => account.envelope.pageSize === walks[0]?.account.envelope.pageSize,
  );
  const envelope = incremental?.envelope ?? usual?.account.envelope;
  const account = usual?.account;
  return {
    mode: incremental === null ? ('full' as const) : ('incremental' as const),
    firstPageNo: envelope?.firstPageNo ?? null,
    pageSize: envelope?.pageSize ?? null,
    pageCount: (incremental === null ? account?.statedPageCount : envelope?.pageCount) ?? null,
    totalRecordCount: (incremental === null ? account?.newestTotal : envelope?.totalRecordCount) ?? null,
    recordsSeen: incremental?.recordsSeen ?? (last === undefined ? 0 : recordsIn(last)),
    walks: walksBegun,
  };
}

/** Of a walk that is contradicted, a page that came again counts once. */
function recordsIn({ strip, pages }: ReadWalk): number {
  if (strip !== null) return strip.covered;
  const counts = new Map(pages.map(({ digest, count }) => [digest, count]));
  return counts.values().reduce((sum, count) => sum + count, 0);
}

/** What a list has cost, by what its source had cost before and has now. */
export function trafficSince(before: Traffic, now: Traffic): Traffic {
  return {
    requests: now.requests - before.requests,
    retries: now.retries - before.retries,
    bytes: now.bytes - before.bytes,
    waitedMs: now.waitedMs - before.waitedMs,
  };
}
