/** Clocks of two machines can differ by this much, in milliseconds. A run that ended further in the future is not believed. */
const skewMsMax = 60_000;

/** True if a run ended in the future by this machine's clock. The age of the list is then unknown. */
export function isInFuture(completedAt: string | null, nowMs: number): boolean {
  return completedAt !== null && Date.parse(completedAt) - nowMs > skewMsMax;
}

/** How long ago a run ended, in milliseconds; null if none has, or if its end is not believed. */
export function ageMs(completedAt: string | null, nowMs: number): number | null {
  if (completedAt === null || isInFuture(completedAt, nowMs)) return null;
  return Math.max(0, nowMs - Date.parse(completedAt));
}

/** True if a run ended at most `maxAgeMs` milliseconds ago, by this machine's clock. */
export function isFresh(completedAt: string | null, nowMs: number, maxAgeMs: number): boolean {
  const age = ageMs(completedAt, nowMs);
  return age !== null && age <= maxAgeMs;
}
