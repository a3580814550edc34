/** How much of a list a run may remove. */
export interface RemovalGuard {
  /** The greatest share of the rows that the last settled run had, from 0 to 1. */
  readonly shareMax: number;
  /** True lifts the share, and nothing else. */
  readonly allowAny: boolean;
}

/** So few removals are never a mass: a small list may change by half and more. */
const removalsAlwaysAllowed = 20;

/**
 * Whether a run may remove rows that are gone. Only those count that the last settled run had, because what came since may be another
 * version of them.
 *
 * @param gone how many rows of the last settled run are gone.
 * @param settledCount how many rows that run had.
 */
export function mayRemove(gone: number, settledCount: number, { shareMax, allowAny }: RemovalGuard): boolean {
  return allowAny || gone <= Math.max(removalsAlwaysAllowed, Math.floor(settledCount * shareMax)); // guard: removals
}
