// Phase 2, windows: the order of a list's keys, as all answers and the last full sync show it.

import type { Answer, Direction } from './window.ts';

/** How the keys of a list are ordered. */
export interface KeyOrder {
  readonly direction: Direction;
  /** How far a key can be behind the key of a record before it: the most that pages have shown, in this run or before. */
  readonly slack: number;
  /** The number of records by which neighbouring pages overlap in addition, so that windows meet. */
  readonly stretch: number;
  /** How many records of a page can be anywhere. */
  readonly strays: number;
}

/** The order that the last proven full sync found; `none`: no order of keys. Null if there was no proven full sync. */
export type LearntOrder = KeyOrder | 'none' | null;

/** The share of a page that its slack can take; a list by title is found out at its first page. */
const stretchShare = 0.4;
/** The overlap grows in steps, so that a later run asks for the same pages. */
const stretchStep = 2;
/** The share of a page's records that can be strays. */
const strayShare = 0.02;
/** The most strays of a page. */
export const straysMax = 4;

/** The order of all answers, with no more strays than it takes; null if an answer or the last full sync has none, or slack is too long. */
export function orderOf(
  answers: readonly Answer[],
  learnt: LearntOrder,
  largest = answers.reduce((most, { size }) => Math.max(most, size), 0),
): KeyOrder | null {
  if (learnt === 'none') return null; // guard: order of the last full sync
  const known = learnt?.strays ?? 0;
  const most = Math.max(known, Math.min(straysMax, Math.round(largest * strayShare)));
  for (let strays = known; strays <= most; strays++) {
    const seen = (direction: Direction) =>
      answers.reduce((sum, { page }) => Math.max(sum, page.slack(direction, strays)), 0); // guard: all answers are in order
    const direction = learnt?.direction ?? (seen('up') <= seen('down') ? 'up' : 'down');
    const slack = Math.max(learnt?.slack ?? 0, seen(direction));
    const isLearnt = slack === learnt?.slack && strays === known;
    const stretch = isLearnt ? learnt.stretch : stretchOf(answers, slack) + 2 * strays;
    const isShort = stretch <= largest * stretchShare;
    if (slack !== Number.POSITIVE_INFINITY && isShort) return { direction, slack, stretch, strays };
  }
  return null;
}

/** The number of records that have keys within two slacks of each other, on average: windows of neighbours meet if both show them. */
function stretchOf(answers: readonly Answer[], slack: number): number {
  if (slack === 0 || slack === Number.POSITIVE_INFINITY) return slack;
  let [sum, count] = [0, 0];
  for (const { page } of answers) {
    const keys = page.keys.toSorted();
    for (let [at, end] = [0, 0]; at < keys.length; at++) {
      while (end < keys.length && (keys[end] as number) <= (keys[at] as number) + 2 * slack) end++;
      // A page that is shorter than that says nothing of its later records.
      if (end === keys.length && at > 0) break;
      sum += end - at;
      count++;
    }
  }
  return count === 0 ? Number.POSITIVE_INFINITY : Math.ceil(sum / count / stretchStep) * stretchStep;
}

/** The order that a proven full sync shows, for the next run; null if its records fit both directions. */
export function learntOrder(answers: readonly Answer[], before: LearntOrder): LearntOrder {
  if (answers.every(({ page }) => page.slack('up', 0) === 0 && page.slack('down', 0) === 0)) return null;
  return orderOf(answers, before === 'none' ? null : before) ?? orderOf(answers, null) ?? 'none';
}
