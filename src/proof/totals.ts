// Phase 3, gaps: what answers say of the end of the list by their totals, and what these say together.

import { greatestOf, leastOf } from '../contract/extremes.ts';
import {
  type Answer,
  addressText,
  beginOf,
  endOf,
  inTime,
  isAt,
  isOfRun,
  type PageAddress,
  reachOf,
} from './answers.ts';
import type { Finding } from './findings.ts';
import { countsOf } from './page-items.ts';

// What one answer says of the end of the list. A total can refute a claim. It never proves one: it can be of an earlier moment, or deduced
// from a page that is not full. So an end needs a second witness, and `witnesses.ts` says which ones count.

/** Compares an answer with its own total. At or beyond its own total it says nothing, unless it is the first page. */
export function checkTotal(answer: Answer): 'agrees' | 'contradicts' | 'silent' {
  const { total, size, page, index, pageCount } = answer;
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

/** The full pages of this run: their totals were counted. */
export const fullOfRun = (answers: readonly Answer[]): Answer[] => answers.filter(isOfRun).filter(isFull);

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
  const answers = all.filter(answer => !isOnPageBefore(answer, all));
  if (!answers.some(isContradicted)) return answers;
  const sameAddress = Map.groupBy(inTime(answers), addressText);
  return answers.filter(answer => {
    if (!isContradicted(answer)) return true;
    const later = sameAddress.get(addressText(answer))?.find(({ asked }) => asked > answer.arrived);
    return later === undefined || later.total <= answer.total - copyStepMin; // guard: a total that fell far stands
  });
}

/** Whether there is no page at a place before the total, because its records are on the page before it. */
export function isOnPageBefore({ index, size, page }: Answer, answers: readonly Answer[]): boolean {
  const isBefore = (other: Answer) => other.index === index - 1 && other.size === size && hasOrphans(other);
  return page.count === 0 && answers.some(isBefore);
}

/** The pages before those that are empty although a total says that they have records. */
export function pagesBeforeEmpty(answers: readonly Answer[]): PageAddress[] {
  const isEmpty = ({ index, page }: Answer) => index > 0 && page.count === 0;
  return answers
    .filter(each => isEmpty(each) && isContradicted(each))
    .map(({ index, size }) => ({ index: index - 1, size }));
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

// What the totals of a run say together: that they are no counts of the list, or of several copies of it, or that records are missing.

/** Why a list can't be proven, if its totals say so: they are no counts of it; null if they do not. */
export function causeInTotals(answers: readonly Answer[]): Finding | null {
  const fresh = answers.filter(answer => isOfRun(answer) && answer.page.count > 0);
  const full = fresh.filter(isFull);
  const totals = new Set(full.map(({ total }) => total));
  const [one] = full;
  if (one === undefined) return areShort(answers) ? shortPages(answers) : null;
  const pages = one.total / one.size;
  const isByPages = totals.size > 1 && full.every(({ total, size }) => total === pages * size); // guard: a total by page size
  const { total } = one;
  if (isByPages) return { code: 'total_is_no_count', kind: 'pages', total, pages };
  const short = fresh.filter(answer => isClaim(answer) && full.every(({ total }) => total > answer.total));
  const ends = [...new Set(short.map(({ total }) => total))];
  const areDeduced = ends.length > 1 && haveStep(totalsInTime(fresh)); // guard: totals that are deduced from pages
  if (areDeduced) return { code: 'total_is_no_count', kind: 'deduced', total, ends: ends.slice(0, 2) };
  if (areShort(answers)) return shortPages(answers);
  const furthest = greatestOf(full.map(endOf));
  const isKept = totals.size === 1 && furthest >= one.total + one.size; // guard: a limit that is kept in the total
  return isKept ? { code: 'total_is_no_count', kind: 'limit', total, shown: furthest } : null;
}

/** Why a list can't be proven whose pages come short. */
export function shortPages(answers: readonly Answer[]): Finding {
  const pageCount = greatestOf(answers.map(answer => answer.pageCount ?? 0));
  const total = greatestOf(answers.map(answer => answer.total));
  return { code: 'pages_short', pageCount, total, shown: countsOf(answers.map(({ page }) => page)).size };
}

/** Whether pages at two addresses come short, however often they are asked for, although other answers show records behind them. */
export function areShort(answers: readonly Answer[]): boolean {
  const counted = countedAnswers(answers);
  const shown = counted.filter(({ page }) => page.count > 0);
  const furthest = greatestOf(shown.map(endOf));
  const short = counted
    .filter(isOfRun)
    .filter(answer => isShort(answer) && isContradicted(answer) && reachOf(answer) < furthest);
  return short.some(answer => !isAt(answer, short[0] as Answer));
}

/** The totals of answers, in the order in which these were asked for. */
export const totalsInTime = (answers: readonly Answer[]): number[] =>
  inTime(answers).map(({ total }) => total);

/** Totals that move by so much from one answer to the next are of copies of a list, or of one that is emptied or filled. */
export const copyStepMin = 3;

/** Whether totals, in the order in which they were asked for, move by so much. */
export const haveStep = (totals: readonly number[]): boolean =>
  totals.some((total, at) => Math.abs((totals[at - 1] ?? total) - total) >= copyStepMin);

/** A total comes from another copy if it comes back by such a step in so many answers, and this share of them. */
const copyReturnsMin = 4;
const copyShare = 1 / 10;

/** Two totals that come by turns time and again, because answers are from copies of the list that differ; null if there are none. */
export function copiesIn(answers: readonly Answer[]): readonly [number, number] | null {
  const returns = new Map<number, number>();
  const least = Math.max(copyReturnsMin, answers.length * copyShare);
  let before: number | null = null;
  for (const total of totalsInTime(answers)) {
    const count = returns.get(total);
    const isBack = count !== undefined && before !== null && Math.abs(total - before) >= copyStepMin;
    if (isBack && count + 1 >= least) return [total, before as number]; // guard: copies that differ
    returns.set(total, (count ?? 0) + (isBack ? 1 : 0));
    before = total;
  }
  return null;
}

/** Why a list has fewer records than its totals of this run state; null if it has not. See *The count* in docs/proof.md. */
export function miscount(answers: readonly Answer[], shown: number): Finding | null {
  const totals = countedAnswers(answers.filter(isOfRun)).map(({ total }) => total); // guard: totals of this run
  const moved = totals.reduce((sum, total, at) => sum + Math.abs(total - (totals[at - 1] ?? total)), 0);
  const total = leastOf(totals);
  if (shown >= total - moved) return null; // guard: as many rows as records
  return { code: 'total_exceeds_records', total, shown };
}

/** A limit of records that a service lists or counts is a multiple of one of these. */
const limitUnits = [1_000, 1_024];

/** The ends of a list that has more records than its totals say: two pages end alike. See *The end of a list* in docs/proof.md. */
export function endsWithoutTotals(counted: readonly Answer[]): ReadonlySet<Answer> {
  const sizes = sizesServed(counted);
  const isPartial = (answer: Answer) => answer.page.count > 0 && !isFull(answer);
  const isEmptyBehind = ({ index, size }: Answer) =>
    counted.some(next => next.index === index + 1 && next.size === size && next.page.count === 0);
  const isNothingAt = (place: number) =>
    counted.some(answer => beginOf(answer) === place && answer.page.count === 0);
  const isEnd = (answer: Answer) => {
    const end = endOf(answer);
    if (!sizes.has(answer.size)) return false; // guard: sizes that are served
    if (counted.some(other => isBeyondEnd(other, end))) return false; // guard: a total that is not reached
    if (limitUnits.some(unit => end % unit === 0)) return false; // guard: a limit is no end
    // A page that is not full and ends before it is one that something was left out of.
    const isInside = (other: Answer) => (isPartial(other) ? reachOf(other) : beginOf(other) + 1) <= end;
    if (counted.some(other => !isFull(other) && isInside(other))) return false; // guard: no page in the middle is short
    if (!isNothingAt(end)) return false; // guard: a record that did not fit
    return isEmptyBehind(answer); // guard: an empty page behind the end
  };
  const short = counted.filter(answer => isPartial(answer) && isEnd(answer));
  const isSameEnd = (one: Answer, other: Answer) =>
    beginOf(one) !== beginOf(other) &&
    endOf(one) === endOf(other) &&
    one.page.records.at(-1) === other.page.records.at(-1);
  return new Set(short.filter(one => short.some(other => isSameEnd(one, other)))); // guard: two pages end alike
}

/** Whether a total of this run says that the list goes on behind that place. */
const isBeyondEnd = (answer: Answer, end: number): boolean => isOfRun(answer) && answer.total > end;

/** The pages that can show an end without a total: two that begin far apart, those behind them, and one that begins at the end. */
export function pagesAtEnd(counted: readonly Answer[], end: number): PageAddress[] {
  if (!counted.some(isContradicted) || counted.some(answer => isBeyondEnd(answer, end))) return [];
  const left = (size: number) => end % size;
  const sizes = [...sizesServed(counted)].filter(size => left(size) > 0).sort((a, b) => left(a) - left(b));
  const pages = sizes.map(size => ({ index: Math.floor(end / size), size }));
  const [one, other] = [pages[0], pages.at(-1)];
  if (one === undefined || other === undefined || beginOf(one) === beginOf(other)) return halves();
  const behind = [one, other].map(({ index, size }) => ({ index: index + 1, size }));
  const most = greatestOf(sizes);
  const divisor = Array.from({ length: most }, (_, at) => most - at).find(size => end % size === 0) as number;
  return [one, other, ...behind, { index: end / divisor, size: divisor }];

  /** Of a list on a page or two: the first pages of two sizes that are half of it, to see whether these are served. */
  function halves(): PageAddress[] {
    const largest = greatestOf(counted.map(({ size }) => size));
    const half = Math.floor(end / 2);
    const asked = new Set(counted.map(addressText));
    return [half + 1, half + 2]
      .filter(size => size < end && size <= largest)
      .map(size => ({ index: 0, size }))
      .filter(page => !asked.has(addressText(page)));
  }
}
