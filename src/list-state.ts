/** How a run left a list, as `sync_run_resources` has it; `completeness` is null if the list failed. */
export interface ListEnd {
  readonly status: string;
  readonly completeness: string | null;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly errorCode: string | null;
}

/** The words for each state of a list. A list whose run failed or was ended has none, because its status is shown. */
export const stateWords = {
  'never synced': 'never synced',
  complete: 'complete',
  unproven: 'unproven',
  rejected: 'records rejected',
  withheld: 'removals withheld',
} as const;

/** The state of a list. `ended` means that its run failed or was ended. */
export type ListState = keyof typeof stateWords | 'ended';

/** Why a list that was written is not complete; `count` is of records, null if it is unproven. */
export interface OpenPoint {
  readonly state: 'unproven' | 'rejected' | 'withheld';
  readonly count: number | null;
}

/**
 * All reasons why a list is not complete, the most important one first. `unproven` comes first because nothing is certain then.
 * Rejected records come before withheld removals because they can be the reason for them.
 */
export function openPointsOf({ completeness, rejected, removalsWithheld }: ListEnd): OpenPoint[] {
  return [
    ...(completeness === 'unproven' ? [{ state: 'unproven', count: null } as const] : []),
    ...(rejected > 0 ? [{ state: 'rejected', count: rejected } as const] : []),
    ...(removalsWithheld > 0 ? [{ state: 'withheld', count: removalsWithheld } as const] : []),
  ];
}

/** The state to show first. `last` is null if no run of the list has ended. */
export function stateOf(last: ListEnd | null): ListState {
  if (last === null) return 'never synced';
  if (last.status === 'completed') return 'complete';
  return openPointsOf(last)[0]?.state ?? 'ended';
}

/** The state in a few words, with numbers. The view `sync_status` gives the same in SQL, and adds the reason or the error's message. */
export function stateText(last: ListEnd | null): string {
  const state = stateOf(last);
  if (last === null || state === 'never synced') return stateWords['never synced'];
  const { status, completeness, errorCode } = last;
  if (state === 'complete') return `${stateWords.complete}: ${completeness}`;
  if (state === 'unproven') return stateWords.unproven;
  if (state === 'ended')
    return errorCode === null || errorCode === status ? status : `${status}: ${errorCode}`;
  return openPointsOf(last)
    .map(({ state: point, count }) => `${stateWords[point]}: ${count}`)
    .join(', ');
}
