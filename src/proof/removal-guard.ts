/** How much of a list a run can remove. */
export interface RemovalGuard {
  /** The greatest share of the rows of the last settled run, from 0 to 1. */
  readonly shareMax: number;
  /** True lifts the share, and nothing else. */
  readonly allowAny: boolean;
}

/** Up to this many removals are always allowed: a small list can change by half and more. */
const removalsAlwaysAllowed = 20;

/**
 * Whether a run can remove rows that are gone. Only rows of the last settled run count, because a newer row might be
 * another version of one.
 *
 * @param gone how many rows of the last settled run are gone.
 * @param settledCount how many rows that run had.
 */
export function mayRemove(gone: number, settledCount: number, { shareMax, allowAny }: RemovalGuard): boolean {
  return allowAny || gone <= Math.max(removalsAlwaysAllowed, Math.floor(settledCount * shareMax)); // guard: removals
}
