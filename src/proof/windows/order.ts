import { beginOf, type PageAnswer } from './page.ts';

/** The direction of a list in which its keys rise, or fall. */
export type Direction = 'up' | 'down';

/**
 * The order that the last proven full sync found: a direction, or `none` if the records are in no order of their keys.
 * Null if there was no proven full sync.
 */
export type LearntOrder = Direction | 'none' | null;

/**
 * The direction of all answers. The order is not assumed: one answer out of order ends the proof by key for the list,
 * and so does one in the last proven full sync.
 *
 * @returns null if there is none. If the keys fit both directions, the learnt one.
 */
export function directionOf(answers: readonly PageAnswer[], learnt: LearntOrder): Direction | null {
  const isUp = answers.every(({ summary }) => summary.isUp); // guard: all answers are in order
  const isDown = answers.every(({ summary }) => summary.isDown);
  if (learnt === 'none') return null; // guard: order of the last full sync
  if (isUp && learnt !== 'down') return 'up';
  if (isDown && learnt !== 'up') return 'down';
  return null;
}

/**
 * This many records, or a page of them, can be before a page by their place and after it by their key, because records
 * were added in between.
 */
const invertedMax = 20;

/**
 * Whether a page has lower keys than many records before it. Then the list is ordered only in pieces, for example
 * because a record moved to its end, and a window does not cover all keys between its edges.
 */
export function isInverted(answers: readonly PageAnswer[], direction: Direction): boolean {
  const pages = answers.filter(({ summary }) => summary.count > 0).sort((a, b) => beginOf(a) - beginOf(b));
  const keyOf = ({ summary }: PageAnswer) => (direction === 'up' ? summary.firstKey : -summary.firstKey);
  let greatest = Number.NEGATIVE_INFINITY;
  for (const page of pages) {
    const key = keyOf(page);
    if (key < greatest) {
      const isBefore = (other: PageAnswer) =>
        beginOf(other) + other.summary.count <= beginOf(page) && keyOf(other) > key;
      const count = pages.filter(isBefore).reduce((sum, { summary }) => sum + summary.count, 0);
      if (count > Math.min(invertedMax, page.size)) return true; // guard: one long inversion
    }
    greatest = Math.max(greatest, key);
  }
  return false;
}

/** The order that a proven full sync shows, for the next run; null if its records fit both directions. */
export function learntOrder(answers: readonly PageAnswer[]): LearntOrder {
  const isUp = answers.every(({ summary }) => summary.isUp);
  const isDown = answers.every(({ summary }) => summary.isDown);
  if (isUp && isDown) return null;
  return isUp ? 'up' : isDown ? 'down' : 'none';
}
