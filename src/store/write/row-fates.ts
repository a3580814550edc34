import { fateOf, needsTwoRuns } from '../../proof/windows/decide.ts';
import type { Verdict } from '../../proof/windows/verdict.ts';
import { KeyRanges } from './known-pages.ts';
import type { UnshownRow } from './unshown-rows.ts';

/**
 * What becomes of a row that no answer has shown: it goes; it waits for a second run that does not show it; a second answer has to show
 * the same first; or nothing speaks of it.
 */
export type Fate = 'gone' | 'waiting' | 'unconfirmed' | 'undecided';

/** What besides the verdict decides that. */
export interface FateFacts {
  /** How many records the run has shown. */
  readonly shownCount: number;
  /** True if no page is left for a second look: then two runs in a row have to show the same. */
  readonly isLookExhausted: boolean;
  /** The rows that the last run showed gone. */
  readonly waiting: ReadonlySet<number>;
}

/** The fate of each row that was not shown. */
export function fatesOf(verdict: Verdict, rows: readonly UnshownRow[], facts: FateFacts): Fate[] {
  if (verdict.rule === 'agreement' && !verdict.isProven) return rows.map(() => 'undecided');
  const open = new KeyRanges(verdict.rule === 'key' ? verdict.open : []);
  const unconfirmed = new KeyRanges(verdict.rule === 'key' ? verdict.unconfirmed : []);
  const isTwoRuns = needsTwoRuns(verdict.rule, facts.shownCount);
  return rows.map(({ id, key }) => {
    // A row without a key is in no window: it goes if the list is proven, and two runs show it.
    const hasKey = verdict.rule !== 'key' || !Number.isNaN(key);
    const isSpokenOf = hasKey ? !open.has(key) : verdict.isProven;
    const isConfirmed = verdict.rule === 'key' ? hasKey && !unconfirmed.has(key) : verdict.isConfirmed;
    const needsTwo = isTwoRuns || !hasKey || (!isConfirmed && facts.isLookExhausted);
    const fate = fateOf({
      known: 1,
      shown: 0,
      isSpokenOf,
      isConfirmed: isConfirmed || needsTwo,
      needsTwoRuns: needsTwo,
      wasGone: facts.waiting.has(id),
    });
    if (fate.gone > 0) return 'gone';
    if (fate.waiting > 0) return 'waiting';
    return isSpokenOf ? 'unconfirmed' : 'undecided';
  });
}
