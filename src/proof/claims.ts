import { greatestOf } from '../contract/extremes.ts';
import { type Answer, addressText, beginOf, endOf, type PageAddress } from './window.ts';

// What one answer says of the end of the list. A total can refute a claim. It never proves one: it can be of an earlier moment, or deduced
// from a page that is not full. So an end needs a second witness, and `witnesses.ts` says which ones count.

/** Compares an answer with its own total. At or beyond its own total it says nothing, unless it is the first page. */
export function checkTotal(answer: Answer): 'agrees' | 'contradicts' | 'silent' {
  const { total, size, page, index, pageCount } = answer;
  if (isOfEmptyList(answer)) return 'agrees';
  if (beginOf(answer) >= total && index > 0) return 'silent';
  const end = endOf(answer);
  // A page of one answer that has more records than its size is the last one.
  const canGoOn = page.count === size || (page.count > size && pageCount === null);
  return (canGoOn ? total >= end : total === end) ? 'agrees' : 'contradicts';
}

/** Whether an answer says that the list is empty. */
export function isOfEmptyList({ index, total, page }: Answer): boolean {
  return index === 0 && total === 0 && page.count === 0;
}

/** Whether an answer contradicts its own total. */
export const isContradicted = (answer: Answer): boolean => checkTotal(answer) === 'contradicts';

/** Whether a page is full, so that others can follow. */
export const isFull = (answer: Answer): boolean => answer.page.count >= answer.size && !hasOrphans(answer);

/** Whether a last page has the few records of the next one, too, because they would be alone there. */
export const hasOrphans = (answer: Answer): boolean =>
  answer.page.count > answer.size && endOf(answer) === answer.total; // guard: a last page with more records than its size

/** Whether a page has fewer records than its size although the service states pages behind it. */
export const isShort = ({ index, size, page, pageCount }: Answer): boolean =>
  pageCount !== null && index + 1 < pageCount && page.count < size;

/** Whether an answer says that the list ends with its last record. */
export const isClaim = (answer: Answer): boolean => !isFull(answer) && checkTotal(answer) === 'agrees'; // guard: full pages end nothing

/** The answers that count: a later one replaces one of the same address that contradicts its total: these can be two queries. */
export function countedAnswers(all: readonly Answer[]): Answer[] {
  const answers = all.filter(answer => !isJoinedToLast(answer, all));
  if (!answers.some(isContradicted)) return answers;
  const newest = new Map<string, Answer>();
  for (const answer of answers) {
    const other = newest.get(addressText(answer));
    if (other === undefined || answer.asked > other.arrived) newest.set(addressText(answer), answer);
  }
  return answers.filter(answer => !isContradicted(answer) || newest.get(addressText(answer)) === answer);
}

/** Whether there is no page at a place before the total, because its records are on the page before it. */
export function isJoinedToLast({ index, size, page }: Answer, answers: readonly Answer[]): boolean {
  const isBefore = (other: Answer) => other.index === index - 1 && other.size === size && hasOrphans(other);
  return page.count === 0 && answers.some(isBefore);
}

/** The pages before those that are empty although a total says that they have records. */
export function pagesBeforeEmpty(answers: readonly Answer[]): PageAddress[] {
  const empty = answers.filter(
    answer => answer.index > 0 && answer.page.count === 0 && isContradicted(answer),
  );
  return empty.map(({ index, size }) => ({ index: index - 1, size }));
}

/** The sizes that the service has served in full. */
export function sizesServed(answers: readonly Answer[]): ReadonlySet<number> {
  return new Set(answers.filter(isFull).map(({ size }) => size));
}

/** The place after the last record that answers show; of two moments, the later one. */
export function endShown(answers: readonly Answer[]): number {
  const shown = answers.filter(({ page }) => page.count > 0);
  const last = greatestOf(shown.filter(answer => !isFull(answer)).map(({ asked }) => asked));
  return Math.max(0, greatestOf(shown.filter(({ asked }) => asked >= last).map(endOf)));
}
