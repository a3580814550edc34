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
 * be a record of the mirror in another form, and no mass of them unless told so.
 */
export function removalsAllowed(rejected: number, recordCount: number, guard: RemovalGuard): number {
  if (rejected > 0) return 0;
  if (guard.allowAny) return recordCount;
  return Math.max(removalsAlwaysAllowed, Math.floor(recordCount * guard.shareMax));
}
