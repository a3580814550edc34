import type { Bound } from './every-world.ts';

/**
 * How long it can take on one core: seconds; some minutes, for which the commit chooses a share of the worlds of the largest bounds; or
 * hours, for all worlds.
 */
export type Length = 'short' | 'long' | 'whole';

/** What a bound says of the share of its worlds that is played: all of them in the whole length, and in the short one, which has few. */
export function shareOf(length: Length, oneOf: number): { oneOf: number } {
  return { oneOf: length === 'long' ? oneOf : 1 };
}

/** A bound, and what it is about in a few words. */
export interface NamedBound extends Bound {
  readonly name: string;
  /** True if incremental syncs are played, not full ones. */
  readonly isGrowth?: boolean;
}

/** What most bounds have in common. */
export const base = { quirk: 'none', isDown: false, overlap: 1, recordsMin: 0, underWayMax: 1 } as const;
