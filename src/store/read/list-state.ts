/** How a run left a list, as `sync_run_resources` has it; `completeness` is null if the list failed. */
export interface ListEnd {
  readonly status: string;
  readonly completeness: string | null;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly error: { readonly code: string } | null;
}

/**
 * All reasons why a list that was written is not complete, the most important one first. `unproven` comes first because nothing is
 * certain then. Rejected records come before withheld removals because they can be the reason for them. `count` is of records.
 */
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
  if (completeness === 'unproven') return completeness;
  const points = openPointsOf(last).map(({ words, count }) => `${words}: ${count}`);
  if (points.length > 0) return points.join(', ');
  return error === null || error.code === status ? status : `${status}: ${error.code}`;
}
