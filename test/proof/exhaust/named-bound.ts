import type { Bound } from './every-world.ts';

/** How long it can take: seconds, about a minute, or some minutes on one core. */
export type Length = 'short' | 'long' | 'whole';

/** A bound, and what it is about in a few words. */
export interface NamedBound extends Bound {
  readonly name: string;
  /** True if incremental syncs are played, not full ones. */
  readonly isGrowth?: boolean;
}

/** What most bounds have in common. */
export const base = { quirk: 'none', isDown: false, overlap: 1, recordsMin: 0, underWayMax: 1 } as const;
