import type { Freshness } from './runs/freshness.ts';

/** How a run left a list, as `sync_run_resources` has it; `completeness` is null if nothing was written. */
export interface ListEnd {
  readonly status: string;
  readonly completeness: string | null;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly error: { readonly code: string } | null;
  /** The codes of what it found out that nobody has accepted; null if nothing is known of codes. */
  readonly open?: readonly string[] | null;
}

/** What keeps a list from being complete, the worst first; `died` is a run whose process is gone. */
export const faultStates = ['died', 'failed', 'unproven', 'withheld', 'rejected', 'cancelled'] as const;

/** One of them: in words, with what there is to say of it: an error's code, or how many records. */
export interface ListFault {
  readonly state: (typeof faultStates)[number];
  readonly words: string;
  readonly detail: string | number | null;
}

/**
 * The verdict on a list: why it is not complete; nothing if it is, or if it is still being read. Summary, status, report and lists of runs go
 * by it, and the view `sync_status` says the same in SQL. Rejected records can be why removals were withheld, so they come first.
 */
export function faultsOf(list: ListEnd): ListFault[] {
  const { status, completeness, rejected, removalsWithheld, error, open = null } = list;
  const cause = error === null || error.code === status ? null : error.code;
  if (status === 'interrupted' || status === 'died') return [{ state: 'died', words: status, detail: null }];
  if (status === 'failed' || status === 'cancelled') {
    const state = error?.code === 'deadline' ? 'failed' : status;
    return [{ state, words: status, detail: cause }];
  }
  if (status === 'completed') return [];
  // Nothing is written of a list whose records all stand for others.
  if (status === 'partial' && completeness === null)
    return [{ state: 'withheld', words: 'records replaced', detail: null }];
  const ofRecords = ['record_rejected', 'removals_withheld'];
  const isOpen = open === null || open.some(code => !ofRecords.includes(code));
  const faults: ListFault[] = [];
  if (completeness === 'unproven' && isOpen)
    faults.push({ state: 'unproven', words: 'unproven', detail: null });
  if (rejected > 0 && (open === null || open.includes('record_rejected')))
    faults.push({ state: 'rejected', words: 'records rejected', detail: rejected });
  if (removalsWithheld > 0)
    faults.push({ state: 'withheld', words: 'removals withheld', detail: removalsWithheld });
  return faults;
}

/** The verdict in a few words, with numbers. The view adds the reason or the error's message. */
export function verdictText(last: ListEnd | null): string {
  if (last === null) return 'never synced';
  if (last.status === 'completed') return `complete: ${last.completeness}`;
  const [first, ...others] = faultsOf(last);
  if (first === undefined) return last.open?.length === 0 ? `${last.completeness}, accepted` : last.status;
  const shown = first.state === 'unproven' ? [first] : [first, ...others];
  return shown.map(({ words, detail }) => (detail === null ? words : `${words}: ${detail}`)).join(', ');
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

/** True if a list was completed at most `maxAgeMs` milliseconds ago; not if its last completed run ended in the future. */
export function isListFresh(list: Omit<Freshness, 'resource' | 'runId'>, nowMs: number, maxAgeMs: number) {
  const { readSince, lastCompletedAt } = list;
  return !isInFuture(lastCompletedAt, nowMs) && isFresh(readSince, nowMs, maxAgeMs);
}

/** True if a run ended at most `maxAgeMs` milliseconds ago, by this machine's clock. */
export function isFresh(completedAt: string | null, nowMs: number, maxAgeMs: number): boolean {
  const age = ageMs(completedAt, nowMs);
  return age !== null && age <= maxAgeMs;
}
