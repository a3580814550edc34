/** The facts about one record, or about all that are equal in every field. */
export interface RecordFacts {
  /** How many the mirror has. */
  readonly known: number;
  /** The most of them that one answer shows. */
  readonly shown: number;
  /** Whether a window covers its key. */
  readonly isSpokenOf: boolean;
  /** Whether a second window, at another address and asked for later, covers its key, too. */
  readonly isConfirmed: boolean;
  /** Whether two runs in a row must show it gone, as `needsTwoRuns` tells. */
  readonly needsTwoRuns: boolean;
  /** Whether the last run showed it gone. */
  readonly wasGone: boolean;
}

/**
 * The fate of these records; `kept` and `added` are in the mirror after the run, `waiting` and `undecided` stay there.
 */
export interface RecordFate {
  readonly added: number;
  readonly kept: number;
  /** Shown to be gone, and removed. */
  readonly gone: number;
  /** Shown to be gone; removed if the next run shows the same. */
  readonly waiting: number;
  /** Not shown, but no window covers them, or no second one does. */
  readonly undecided: number;
}

/**
 * A record in any answer is in the mirror. A record in no answer is gone if a window covers it, and stays if none does.
 * Identical records are counted: the mirror has as many as the page with the most of them.
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

/**
 * Whether rows can be removed only after two runs in a row show them gone. This is so if no order is visible, if the
 * proof is that readings agree, or if a list is suddenly empty.
 */
export function needsTwoRuns(rule: 'page' | 'key' | 'overlap' | 'agreement', shownCount: number): boolean {
  return rule === 'overlap' || rule === 'agreement' || shownCount === 0;
}
