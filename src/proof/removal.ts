import type { Sum } from '../contract/sum.ts';
import { isIn, type KeyRange } from './window.ts';

/** What the answers of a run say of rows that none of them has shown. */
export interface Evidence {
  readonly isProven: boolean;
  /** True if the list had records and seems to be empty all at once: that is believed only the second time. */
  readonly isSuddenlyEmpty: boolean;
  /** Rows with no greater keys stay, because the service seems to list its newest records only; minus infinity if it does not. */
  readonly oldestListed: number;
  /** Whether one more complete reading by other pages has not shown these rows either. */
  readonly isReadAgain: boolean;
  /** Keys that no window covers, and that no window of a later look at other addresses covers; null if the proof is not by key. */
  readonly byKey: { readonly open: readonly KeyRange[]; readonly unconfirmed: readonly KeyRange[] } | null;
}

/** The fate of a row that no answer has shown: removed, to be looked for once more, or left as it is. */
export type Fate = 'gone' | 'unconfirmed' | 'undecided';

/** The fate of an unshown row by its key: it goes only if two answers of this run, at two addresses, say so. NaN is in no window. */
export function fateOf(key: number, evidence: Evidence): Fate {
  const { isProven, isReadAgain, byKey } = evidence;
  if (evidence.isSuddenlyEmpty) return 'undecided'; // guard: a list that is suddenly empty
  if (key <= evidence.oldestListed) return 'undecided'; // guard: a list of the newest
  const isIncluded = (ranges: readonly KeyRange[]) => ranges.some(range => isIn(key, range));
  const hasKey = byKey !== null && !Number.isNaN(key);
  const isCovered = hasKey ? !isIncluded(byKey.open) : isProven; // guard: only what a window covers goes
  if (!isCovered) return 'undecided';
  const isConfirmed = isReadAgain || (hasKey && !isIncluded(byKey.unconfirmed)); // guard: two answers for a removal
  return isConfirmed ? 'gone' : 'unconfirmed';
}

/** How much of a list a run can remove. */
export interface RemovalGuard {
  /** The greatest share of the rows of the last settled run, from 0 to 1. */
  readonly shareMax: number;
  /** True lifts the share, and nothing else. */
  readonly allowAny: boolean;
}

/** Up to this many removals are always allowed: a small list can change by half and more. */
const removalsAlwaysAllowed = 20;

/** How many rows that are gone a run can remove, of the `settledCount` rows of the last settled run. Newer rows do not count. */
export function removalsMax(settledCount: number, { shareMax, allowAny }: RemovalGuard): number {
  const most = Math.max(removalsAlwaysAllowed, Math.floor(settledCount * shareMax));
  return allowAny ? Number.POSITIVE_INFINITY : most; // guard: removals
}

/** The commit gate: before a list is committed, the number and sum of its rows must be those of what was read and of what stays. */
export function passesGate(expected: Sum, rows: Sum): boolean {
  return expected.equals(rows); // guard: commit gate
}
