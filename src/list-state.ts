/** How a run left a list, as `sync_run_resources` has it; `completeness` is null if the list failed. */
export interface ListEnd {
  readonly status: string;
  readonly completeness: string | null;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly error: { readonly code: string } | null;
}

/** The words for each state of a list. A list whose run failed or was ended has none, because its status is shown. */
export const stateWords = {
  'never synced': 'never synced',
  complete: 'complete',
  unproven: 'unproven',
  rejected: 'records rejected',
  withheld: 'removals withheld',
} as const;

/** Why a list that was written is not complete; `count` is of records, null if it is unproven. */
interface OpenPoint {
  readonly state: 'unproven' | 'rejected' | 'withheld';
  readonly count: number | null;
}

/**
 * All reasons why a list is not complete, the most important one first. `unproven` comes first because nothing is certain then.
 * Rejected records come before withheld removals because they can be the reason for them.
 */
export function openPointsOf({ completeness, rejected, removalsWithheld }: ListEnd): OpenPoint[] {
  const points: OpenPoint[] = [];
  if (completeness === 'unproven') points.push({ state: 'unproven', count: null });
  if (rejected > 0) points.push({ state: 'rejected', count: rejected });
  if (removalsWithheld > 0) points.push({ state: 'withheld', count: removalsWithheld });
  return points;
}

/** The state in a few words, with numbers. The view `sync_status` gives the same in SQL, and adds the reason or the error's message. */
export function stateText(last: ListEnd | null): string {
  if (last === null) return stateWords['never synced'];
  const { status, completeness, error } = last;
  if (status === 'completed') return `${stateWords.complete}: ${completeness}`;
  if (completeness === 'unproven') return stateWords.unproven;
  const points = openPointsOf(last).map(({ state, count }) => `${stateWords[state]}: ${count}`);
  if (points.length > 0) return points.join(', ');
  return error === null || error.code === status ? status : `${status}: ${error.code}`;
}
