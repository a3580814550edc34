/** Clocks of two machines may differ by this much, in milliseconds; a run that ended later than now by more is not believed. */
const skewMsMax = 60_000;

/** True where a run ended in the future, by this machine's clock: no one can tell then how old the list is. */
export function isInFuture(completedAt: string | null, nowMs: number): boolean {
  return completedAt !== null && Date.parse(completedAt) - nowMs > skewMsMax;
}

/** How long ago a run ended, in milliseconds; null where none has, or its end is not believed. */
export function ageMs(completedAt: string | null, nowMs: number): number | null {
  if (completedAt === null || isInFuture(completedAt, nowMs)) return null;
  return Math.max(0, nowMs - Date.parse(completedAt));
}

/** True where a run ended within an age, in milliseconds, as far as this machine's clock can tell. */
export function isFresh(completedAt: string | null, nowMs: number, maxAgeMs: number): boolean {
  const age = ageMs(completedAt, nowMs);
  return age !== null && age <= maxAgeMs;
}
