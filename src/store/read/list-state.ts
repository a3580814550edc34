/** How a run left a list, as `sync_run_resources` has it; `completeness` is null if nothing was written. */
export interface ListEnd {
  readonly status: string;
  readonly completeness: string | null;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly error: { readonly code: string } | null;
}

/** Why a list that was written is not complete, worst first; rejected records can be why removals were withheld. `count` is of records. */
export function openPointsOf({ completeness, rejected, removalsWithheld }: ListEnd) {
  const points = [
    { state: 'unproven', words: 'unproven', count: completeness === 'unproven' ? null : 0 },
    { state: 'rejected', words: 'records rejected', count: rejected },
    { state: 'withheld', words: 'removals withheld', count: removalsWithheld },
  ] as const;
  return points.filter(({ count }) => count !== 0);
}

/** The state in a few words, with numbers. The view `sync_status` gives the same in SQL, and adds the reason or the error's message. */
export function stateText(last: ListEnd | null): string {
  if (last === null) return 'never synced';
  const { status, completeness, error } = last;
  if (status === 'completed') return `complete: ${completeness}`;
  if (completeness === 'unproven' && error === null) return completeness;
  const points = error !== null ? [] : openPointsOf(last).map(({ words, count }) => `${words}: ${count}`);
  if (points.length > 0) return points.join(', ');
  return error === null || error.code === status ? status : `${status}: ${error.code}`;
}

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
