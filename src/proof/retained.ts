// Phase 7, the conclusion: rows at the end where a list grows, which stay although two answers do not show them.
//
// A copy of the list that lags lacks its newest records, and so does a table that is emptied each night and being filled again. Two answers
// of it are no sign of a deletion. But a total moves by several records at once if the next answer comes from another copy, and while a
// table is filled all totals rise.

import { greatestOf, leastOf } from '../contract/extremes.ts';
import type { Verdict } from './cover.ts';
import type { AnswerLog, KeysBeyond } from './log.ts';
import { orderOf } from './order.ts';
import type { AbsentRow } from './questions.ts';
import { copyStepMin, haveStep } from './totals.ts';
import { type Answer, type Direction, endOf, inTime, isOfRun, mostOf } from './window.ts';

/** So many rows at the growing end, and this share of the list, can be those that are not filled in yet. */
const filledMin = 10;
const filledShare = 1 / 10;
/** For each of these rows so many later records can be listed, because they have just arrived, or the copy got them first. */
const lateShare = { copy: 1 / 2, filled: 1 / 10 } as const;
/** If later ones are listed, this share of all rows that would go has to be at the end of a list that is being filled. */
const atEndShare = 3 / 4;

/** Rows that stay at the growing end: an earlier total counted them, or the list seems to be being filled. */
export type Retained = { readonly rows: ReadonlySet<AbsentRow> } & (
  | { readonly why: 'copy'; readonly counted: number; readonly other: number }
  | { readonly why: 'filled'; readonly end: KeysBeyond }
);

/**
 * The rows at the growing end that stay; null if none need to.
 *
 * @param gone rows that two answers do not show.
 * @param staying how many other rows stay that no answer shows.
 */
export function retainedOf(
  { list, answers, misplaced, merged }: AnswerLog,
  verdict: Verdict,
  gone: readonly AbsentRow[],
  staying: number,
): Retained | null {
  if (gone.length === 0) return null;
  const fresh = inTime(answers.filter(isOfRun));
  const order = verdict.windows ?? orderOf(answers, list.learnt);
  /** The rows at the end, up to the newest, with only a few listed records between them; and how many these are. */
  const goneUpTo = (newest: number, share: number) => {
    if (order === null) return { end: { beyond: null }, rows: gone, newer: 0 };
    const keys = keysFrom(fresh, gone).filter(key => key <= newest);
    const sorted = gone.filter(({ key }) => !Number.isNaN(key)).sort((a, b) => b.key - a.key);
    let [listed, newer, beyond] = [0, 0, Number.POSITIVE_INFINITY];
    for (const [at, { key }] of sorted.entries()) {
      while ((keys[listed] ?? key) > key + order.lateness) listed++;
      if (listed <= share * (at + 1)) [newer, beyond] = [listed, key]; // guard: rows before a few late ones
    }
    return { end: { beyond }, rows: sorted.filter(row => isAtEnd(row, { beyond })), newer };
  };

  const later = inTime([...fresh, ...misplaced]).map(({ total }) => total);
  const totals = [...(list.totalsTried ?? []), ...later]; // guard: totals of pages by another size
  if (haveStep(totals)) {
    const [counted, other] = [greatestOf(totals), leastOf(totals)];
    const most = mostOf([...answers, ...merged].map(({ page }) => page));
    const shown = [...most.values()].reduce((sum, count) => sum + count, 0);
    const isCopy = counted > shown + staying; // guard: rows that an earlier total counted
    const atEnd = isCopy ? goneUpTo(leastEndOf(fresh, order?.direction ?? 'up'), lateShare.copy).rows : [];
    if (atEnd.length > 0) return { why: 'copy', counted, other, rows: new Set(atEnd) };
  }

  const { end, rows: atEnd, newer } = goneUpTo(Number.POSITIVE_INFINITY, lateShare.filled);
  const before = list.retained ?? null;
  const rows = atEnd.filter(row => before === null || !isAtEnd(row, before)); // guard: rows that were retained before
  // Requests that are under way together are answered in any order.
  const isRising =
    totals.every((total, at) => total > (totals[at - 1] ?? 0) - copyStepMin) &&
    (totals.at(-1) ?? 0) > (totals[0] ?? 0);
  const least = Math.max(filledMin, filledShare * ((totals.at(-1) ?? 0) + atEnd.length));
  // But for newer ones, the list rises by rows that were not filled in before.
  const filled = order === null ? 0 : Math.max(0, (totals.at(-1) ?? 0) - (totals[0] ?? 0) - newer);
  // Rows that have gone from everywhere are also gone from the end.
  const areThere = newer === 0 || atEnd.length >= atEndShare * gone.length;
  const isFilled = isRising && areThere && rows.length > 0 && rows.length + filled >= least; // guard: a list that is being filled
  return isFilled ? { why: 'filled', end, rows: new Set(rows) } : null;
}

// Several records can share the newest key.
const isAtEnd = ({ key }: AbsentRow, { beyond }: KeysBeyond): boolean => beyond === null || key >= beyond;

/** The keys of the records that answers show, each once, down to the least key of some rows; the greatest first. */
function keysFrom(answers: readonly Answer[], rows: readonly AbsentRow[]): Float64Array {
  const least = leastOf(rows.map(({ key }) => key));
  const keys = new Map<number, number>();
  for (const { page } of answers)
    if (page.greatest > least)
      for (const [at, key] of page.keys.entries()) if (key > least) keys.set(page.records[at] as number, key);
  return Float64Array.from(keys.values()).sort().reverse();
}

/** The greatest key of one answer of the growing end: of the one that shows the fewest; infinite if there is none. */
function leastEndOf(answers: readonly Answer[], direction: Direction): number {
  const isOfEnd = (answer: Answer) =>
    direction === 'down' ? answer.index === 0 : endOf(answer) === answer.total;
  const ends = answers.filter(answer => answer.page.count > 0 && isOfEnd(answer));
  return leastOf(ends.map(({ page }) => page.greatest));
}
