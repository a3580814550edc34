import { type Answer, addressText, beginOf, endOf } from './window.ts';

// A total can refute a claim. It never proves one.

/**
 * Compares an answer with its own total. A full page is contradicted if the total does not reach its end; a page that is not full, if
 * the total is not its first place plus its items. An answer at or beyond its own total says nothing, unless it is the first page.
 */
export function checkTotal(answer: Answer): 'agrees' | 'contradicts' | 'silent' {
  const { total, size, page, index } = answer;
  if (isOfEmptyList(answer)) return 'agrees';
  if (beginOf(answer) >= total && index > 0) return 'silent';
  const end = endOf(answer);
  return (page.count >= size ? total >= end : total === end) ? 'agrees' : 'contradicts';
}

/** Whether an answer says that the list is empty. */
export function isOfEmptyList({ index, total, page }: Answer): boolean {
  return index === 0 && total === 0 && page.count === 0;
}

const isContradicted = (answer: Answer): boolean => checkTotal(answer) === 'contradicts';

/**
 * The answers that count. If an answer contradicts its own total and a later one has the same address, only the later one counts:
 * count and items can come from two queries, and a change between them is not an error.
 */
export function countedAnswers(answers: readonly Answer[]): Answer[] {
  if (!answers.some(isContradicted)) return [...answers];
  const newest = new Map<string, Answer>();
  for (const answer of answers) {
    const other = newest.get(addressText(answer));
    if (other === undefined || answer.asked > other.arrived) newest.set(addressText(answer), answer);
  }
  return answers.filter(answer => !isContradicted(answer) || newest.get(addressText(answer)) === answer);
}

/** The answers that contradict their own total and were not yet asked for once more. */
export function contradictedOnce(answers: readonly Answer[]): Answer[] {
  const isAlone = (answer: Answer) =>
    answers.filter(other => addressText(other) === addressText(answer)).length === 1;
  return answers.filter(answer => isContradicted(answer) && isAlone(answer));
}

/**
 * The answers that end the list: pages that are not full and agree with their total, if no answer contradicts its own. A total alone
 * proves no end: a page that is not full can be in the middle of a list, and a full one can be cut off.
 */
export function endingAnswers(counted: readonly Answer[]): ReadonlySet<Answer> {
  if (counted.some(isContradicted)) return new Set(); // guard: contradicted totals
  const isFull = ({ page, size }: Answer) => page.count >= size; // guard: full pages end nothing
  return new Set(counted.filter(answer => !isFull(answer) && checkTotal(answer) === 'agrees'));
}

/** Whether one answer shows the whole list; its order does not matter. */
export function isOnePageWhole(heard: readonly Answer[]): boolean {
  const counted = countedAnswers(heard);
  if (counted.some(isContradicted)) return false;
  return counted.some(({ index, size, page }) => index === 0 && page.count < size && !page.isIdTwice);
}

/**
 * Why a list that was read has fewer records than its totals state; null if it has not. While it changes, a record that came can be at a
 * place that was read before. The totals show by how much they moved. Too many are no fault: each was listed at some moment of the run.
 */
export function miscount(answers: readonly Answer[], records: number): string | null {
  const totals = countedAnswers(answers).map(({ total }) => total);
  const moved = totals.reduce((sum, total, at) => sum + Math.abs(total - (totals[at - 1] ?? total)), 0);
  const [least, most] = [Math.min(...totals), Math.max(...totals)];
  if (records >= least - moved) return null; // guard: as many rows as records
  const stated = least === most ? least : `${least} to ${most}`;
  return `its pages have shown ${records} records, but the service states a total of ${stated}`;
}
