/** What is known of one record, or of all that are equal in every field. */
export interface RecordFacts {
  /** How many the mirror has. */
  readonly known: number;
  /** How many the answer that shows most of them shows. */
  readonly shown: number;
  /** Whether a window speaks of its key. */
  readonly isSpokenOf: boolean;
  /** Whether a second window, at another address and asked for later, speaks of its key, too. */
  readonly isConfirmed: boolean;
  /** Whether two runs in a row must show it gone, as `needsTwoRuns` tells. */
  readonly needsTwoRuns: boolean;
  /** Whether the last run showed it gone. */
  readonly wasGone: boolean;
}

/** What happens to them; `kept` and `added` are in the mirror after the run, `waiting` and `undecided` stay there. */
export interface RecordFate {
  readonly added: number;
  readonly kept: number;
  /** Shown to be gone, and removed. */
  readonly gone: number;
  /** Shown to be gone; removed if the next run shows the same. */
  readonly waiting: number;
  /** Not shown, but no window speaks of them, or no second one does. */
  readonly undecided: number;
}

/**
 * What any answer shows is in the mirror. What no answer shows and a window speaks of is gone. What no window speaks of stays. Identical
 * records are counted: as many are listed as the fullest page shows.
 */
export function fateOf(facts: RecordFacts): RecordFate {
  const { known, shown, isSpokenOf, isConfirmed } = facts;
  const kept = Math.min(known, shown);
  const missing = known - kept;
  const fate = { added: shown - kept, kept, gone: 0, waiting: 0, undecided: 0 };
  if (!isSpokenOf) return { ...fate, undecided: missing }; // guard: only what a window speaks of goes
  if (!isConfirmed) return { ...fate, undecided: missing }; // guard: two answers for a removal
  if (facts.needsTwoRuns && !facts.wasGone) return { ...fate, waiting: missing }; // guard: two runs in a row
  return { ...fate, gone: missing };
}

/** Whether rows may go only when two runs in a row show them gone: an order that nobody sees, readings that agree, or a list that is empty all at once. */
export function needsTwoRuns(rule: 'page' | 'key' | 'overlap' | 'agreement', shownCount: number): boolean {
  return rule === 'overlap' || rule === 'agreement' || shownCount === 0;
}
