// Phase 2, windows: the order of a list's keys, as all answers and the last full sync show it.

import type { Answer } from './answers.ts';
import type { Direction } from './keys.ts';

/** How the keys of a list are ordered. */
export interface KeyOrder {
  readonly direction: Direction;
  /** How far a key can be behind the key of a record before it: the most that pages have shown, in this run or before. */
  readonly lateness: number;
  /** The number of records by which neighbouring pages overlap in addition, so that windows meet. */
  readonly extraOverlap: number;
  /** How many records of a page can be anywhere. */
  readonly outliers: number;
}

/** The order that the last proven full sync found; `none`: no order of keys. Null if there was no proven full sync. */
export type LearntOrder = KeyOrder | 'none' | null;

/** The share of a page that its lateness can take; a list by title is found out at its first page. */
const extraOverlapShare = 0.4;
/** The overlap grows in steps, so that a later run asks for the same pages. */
const extraOverlapStep = 2;
/** The share of a page's records that can be outliers. */
const outlierShare = 0.02;
/** The most outliers of a page. */
export const outliersMax = 4;

/** The order of all answers, with no more outliers than it takes; null if an answer or the last full sync has none, or lateness is too long. */
export function orderOf(
  answers: readonly Answer[],
  learnt: LearntOrder,
  largest = answers.reduce((most, { size }) => Math.max(most, size), 0),
): KeyOrder | null {
  if (learnt === 'none') return null; // guard: order of the last full sync
  const known = learnt?.outliers ?? 0;
  const most = Math.max(known, Math.min(outliersMax, Math.round(largest * outlierShare)));
  for (let outliers = known; outliers <= most; outliers++) {
    const seen = (direction: Direction) =>
      answers.reduce((sum, { page }) => Math.max(sum, page.lateness(direction, outliers)), 0); // guard: all answers are in order
    const direction = learnt?.direction ?? (seen('up') <= seen('down') ? 'up' : 'down');
    const lateness = Math.max(learnt?.lateness ?? 0, seen(direction));
    const isLearnt = lateness === learnt?.lateness && outliers === known;
    const extraOverlap = isLearnt ? learnt.extraOverlap : extraOverlapOf(answers, lateness) + 2 * outliers;
    const isShort = extraOverlap <= largest * extraOverlapShare;
    if (lateness !== Number.POSITIVE_INFINITY && isShort)
      return { direction, lateness, extraOverlap, outliers };
  }
  return null;
}

/** The number of records that have keys within twice the lateness of each other, on average: windows of neighbours meet if both show them. */
function extraOverlapOf(answers: readonly Answer[], lateness: number): number {
  if (lateness === 0 || lateness === Number.POSITIVE_INFINITY) return lateness;
  let [sum, count] = [0, 0];
  for (const { page } of answers) {
    const keys = page.keys.toSorted();
    for (let [at, end] = [0, 0]; at < keys.length; at++) {
      while (end < keys.length && (keys[end] as number) <= (keys[at] as number) + 2 * lateness) end++;
      // A page that is shorter than that says nothing of its later records.
      if (end === keys.length && at > 0) break;
      sum += end - at;
      count++;
    }
  }
  return count === 0
    ? Number.POSITIVE_INFINITY
    : Math.ceil(sum / count / extraOverlapStep) * extraOverlapStep;
}

/** The order that a proven full sync shows, for the next run; null if its records fit both directions. */
export function learntOrder(answers: readonly Answer[], before: LearntOrder): LearntOrder {
  if (answers.every(({ page }) => page.lateness('up', 0) === 0 && page.lateness('down', 0) === 0))
    return null;
  return orderOf(answers, before === 'none' ? null : before) ?? orderOf(answers, null) ?? 'none';
}
