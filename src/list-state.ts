/** How a run left a list, as `sync_run_resources` has it; `completeness` is null if the list failed. */
export interface ListEnd {
  readonly status: string;
  readonly completeness: string | null;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly errorCode: string | null;
}

/** What a person is told of a list, but for one whose run failed or was ended: that is told by its status. */
export const stateWords = {
  'never synced': 'never synced',
  complete: 'complete',
  unproven: 'unproven',
  rejected: 'records rejected',
  withheld: 'removals withheld',
} as const;

/** What a list is. `ended` is a run that failed or was ended. */
export type ListState = keyof typeof stateWords | 'ended';

/** Why a list that was written is not complete; `count` is of records, null if it is unproven. */
export interface OpenPoint {
  readonly state: 'unproven' | 'rejected' | 'withheld';
  readonly count: number | null;
}

/**
 * All reasons why a list is not complete, the one that matters most first: what is unproven is not known at all, and rejected
 * records can be why removals were withheld.
 */
export function openPointsOf({ completeness, rejected, removalsWithheld }: ListEnd): OpenPoint[] {
  return [
    ...(completeness === 'unproven' ? [{ state: 'unproven', count: null } as const] : []),
    ...(rejected > 0 ? [{ state: 'rejected', count: rejected } as const] : []),
    ...(removalsWithheld > 0 ? [{ state: 'withheld', count: removalsWithheld } as const] : []),
  ];
}

/** What to say first of a list; null is a list of which no run has ended. */
export function stateOf(last: ListEnd | null): ListState {
  if (last === null) return 'never synced';
  if (last.status === 'completed') return 'complete';
  return openPointsOf(last)[0]?.state ?? 'ended';
}

/** The same in few words, with numbers. The view `sync_status` says it in SQL, and adds the reason or the error's message. */
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
