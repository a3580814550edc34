import { addressText, beginOf, isLater, type PageAnswer } from './page.ts';

/**
 * The result of comparing an answer with its own total. A full page is contradicted if the total does not reach its
 * end. A page that is not full is contradicted if the total is not its first place plus its items. An answer at or
 * beyond its own total says nothing.
 */
export type TotalCheck = 'agrees' | 'contradicts' | 'silent';

/**
 * Compares an answer with its own total. A page that begins at its total or beyond says nothing, unless it is the first
 * one.
 */
export function checkTotal(answer: PageAnswer): TotalCheck {
  const { total, size, summary } = answer;
  const begin = beginOf(answer);
  if (isOfEmptyList(answer)) return 'agrees';
  if (begin >= total && answer.index > 0) return 'silent';
  const end = begin + summary.count;
  const isFull = summary.count >= size;
  return (isFull ? total >= end : total === end) ? 'agrees' : 'contradicts';
}

/** Whether an answer is the first page of a list without records. */
export function isOfEmptyList({ index, total, summary }: PageAnswer): boolean {
  return index === 0 && total === 0 && summary.count === 0;
}

/**
 * The answers that count. If an answer contradicts its own total and a later one has the same address, only the later
 * one counts. Count and items can come from two queries, and a change between them is not an error.
 */
export function countedAnswers(answers: readonly PageAnswer[]): PageAnswer[] {
  const newest = new Map<string, PageAnswer>();
  for (const answer of answers) {
    const other = newest.get(addressText(answer));
    if (other === undefined || isLater(answer, other)) newest.set(addressText(answer), answer);
  }
  return answers.filter(
    answer => checkTotal(answer) !== 'contradicts' || newest.get(addressText(answer)) === answer,
  );
}

/** The answers that contradict their own total and were not yet asked for once more. */
export function contradictedOnce(answers: readonly PageAnswer[]): PageAnswer[] {
  const times = new Map<string, number>();
  for (const answer of answers) times.set(addressText(answer), (times.get(addressText(answer)) ?? 0) + 1);
  return answers.filter(
    answer => checkTotal(answer) === 'contradicts' && times.get(addressText(answer)) === 1,
  );
}

/**
 * Whether a page should be asked for once more at once (`again`), or shows that pages have another size than was asked
 * for (`cut`). It is `cut` if it has more records, or if it is the first page and two answers of it contradict their
 * totals. So a service that cuts pages silently, or filters after paging, is found out before all pages are read.
 */
export function doubtOfPage(answer: PageAnswer, answers: readonly PageAnswer[]): 'again' | 'cut' | null {
  if (answer.summary.count > answer.size) return 'cut';
  if (answer.index > 0 || checkTotal(answer) !== 'contradicts') return null;
  const isSecond = answers.some(other => other !== answer && addressText(other) === addressText(answer));
  return isSecond ? 'cut' : 'again';
}

/**
 * The answers that end the list: pages that are not full and agree with their total, if no answer contradicts its own.
 * A total alone proves no end: a page that is not full can be in the middle of a list, and a full one can be cut off.
 */
export function endingAnswers(counted: readonly PageAnswer[]): ReadonlySet<PageAnswer> {
  if (counted.some(answer => checkTotal(answer) === 'contradicts')) return new Set(); // guard: contradicted totals
  return new Set(counted.filter(isEnding));
}

/** A page without records is at or beyond its total, or contradicts it, so it ends nothing, except in an empty list. */
function isEnding(answer: PageAnswer): boolean {
  if (answer.summary.count >= answer.size) return false; // guard: full pages end nothing
  return checkTotal(answer) === 'agrees';
}
