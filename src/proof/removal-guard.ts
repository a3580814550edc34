import type { Standing } from './standing.ts';

/** How much of a list a run may remove. */
export interface RemovalGuard {
  /** The greatest share, from 0 to 1. */
  readonly shareMax: number;
  /** True lifts the share, and nothing else. */
  readonly allowAny: boolean;
}

/** So few removals are never a mass: a small list may change by half and more. */
const removalsAlwaysAllowed = 20;

/**
 * How many records a run may remove from a list whose contents are proven: none where records were rejected, for one of them may
 * be a record of the mirror in another form, and no mass of them unless told so. The share is that of the list before it changed: a
 * mass that was withheld is none the smaller for what has come in its place since.
 */
export function removalsAllowed(
  rejected: number,
  { sum, settledCount }: Pick<Standing, 'sum' | 'settledCount'>,
  { shareMax, allowAny }: RemovalGuard,
): number {
  if (rejected > 0) return 0;
  if (allowAny) return sum.count;
  return Math.max(removalsAlwaysAllowed, Math.floor(Math.min(sum.count, settledCount) * shareMax));
}
