import { fateOf, needsTwoRuns } from '../../proof/windows/decide.ts';
import type { Verdict } from '../../proof/windows/verdict.ts';
import { KeyRanges } from './known-pages.ts';
import type { UnshownRow } from './unshown-rows.ts';

/**
 * The fate of a row that no answer has shown. It is removed (`gone`), waits for a second run that does not show it, needs a second
 * answer that confirms it, or can't be decided.
 */
export type Fate = 'gone' | 'waiting' | 'unconfirmed' | 'undecided';

/** The facts besides the verdict that decide a row's fate. */
export interface FateFacts {
  /** How many records the run has shown. */
  readonly shownCount: number;
  /** True if no page is left for a second look: two runs in a row must then agree. */
  readonly isLookExhausted: boolean;
  /** The rows that were gone in the last run. */
  readonly waiting: ReadonlySet<number>;
}

/** The fate of each row that was not shown. */
export function fatesOf(verdict: Verdict, rows: readonly UnshownRow[], facts: FateFacts): Fate[] {
  if (verdict.rule === 'agreement' && !verdict.isProven) return rows.map(() => 'undecided');
  const open = new KeyRanges(verdict.rule === 'key' ? verdict.open : []);
  const unconfirmed = new KeyRanges(verdict.rule === 'key' ? verdict.unconfirmed : []);
  const isTwoRuns = needsTwoRuns(verdict.rule, facts.shownCount);
  return rows.map(({ id, key }) => {
    // A row without a key is in no window: it is removed if the list is proven, and two runs agree.
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
