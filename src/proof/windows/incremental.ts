import { chainsOf, openRanges } from './cover.ts';
import { countedAnswers, endingAnswers } from './end.ts';
import { type Direction, directionOf } from './order.ts';
import type { Identity, ItemsOf, PageAnswer } from './page.ts';
import type { Plan } from './plan.ts';
import { inOrder, type KeyRange, keysOf, windowOf } from './window.ts';

/** The start of an incremental sync: the mirror after the last run that was sure of the list. */
export interface KnownList {
  readonly identity: Identity;
  /** Learnt by the last proven full sync. */
  readonly direction: Direction;
  /** The key of the newest record. */
  readonly newestKey: number;
  /** How many records the list had. */
  readonly count: number;
}

/** An answer, and its records that are new or different in the mirror. */
export interface GrowthAnswer {
  readonly answer: PageAnswer;
  /** A record without an id is also new if the page has more of its kind than the mirror. */
  readonly newCount: number;
  /** The oldest key of the new records; NaN if there are none. */
  readonly oldestNewKey: number;
}

/** The next step. */
export type IncrementalStep =
  /** Ask for this page of the plan. */
  | { readonly kind: 'ask'; readonly number: number }
  /**
   * The growing end is proven. Rows whose keys are in the range must all have been shown; if one was not, the list is
   * read in full.
   */
  | { readonly kind: 'done'; readonly range: KeyRange }
  | { readonly kind: 'full'; readonly reason: string };

/** An incremental sync that needs more pages than this becomes a full sync. */
const pagesMax = 200;

/**
 * Plans an incremental sync of a list that grows at one end. Windows must cover all keys from the newest known one to
 * that end; if keys repeat, they must begin strictly below it. They are linked, as in a full sync. A new record below
 * the newest known key, or a total that shows another change, makes it a full sync. Records that arrive meanwhile are
 * simply included.
 *
 * @param answers of this run, all of pages of the plan.
 * @param added how many new records the answers show, each counted once.
 */
export function planIncremental(
  list: KnownList,
  plan: Plan,
  answers: readonly GrowthAnswer[],
  added: number,
  itemsOf: ItemsOf,
): IncrementalStep {
  const { identity, direction } = list;
  const pages = answers.map(({ answer }) => answer);
  if (pages.length > 0 && directionOf(pages, direction) === null) return full('a page is out of order');
  if (answers.some(answer => isNewBelow(answer, list)))
    return full('a new record is older than the newest known one');
  const counted = countedAnswers(pages);
  const ending = endingAnswers(counted);
  const windows = counted.flatMap(answer => windowOf(answer, ending.has(answer), direction, identity) ?? []);
  const newest = inOrder(list.newestKey, direction);
  const needed: KeyRange =
    direction === 'up'
      ? { from: newest, to: Number.POSITIVE_INFINITY, isFromIn: true, isToIn: true }
      : { from: Number.NEGATIVE_INFINITY, to: newest, isFromIn: true, isToIn: true };
  for (const chain of chainsOf(windows, identity, itemsOf)) {
    if (openRanges(chain.windows, needed).length > 0) continue;
    const totals = counted.map(({ total }) => total);
    const count = list.count + added;
    if (count < Math.min(...totals) || count > Math.max(...totals))
      return full('the total says that more has changed'); // guard: total of an incremental sync
    return { kind: 'done', range: keysOf(needed, direction) };
  }
  return nextPage(list, plan, pages);
}

function isNewBelow({ newCount, oldestNewKey }: GrowthAnswer, { newestKey }: KnownList): boolean {
  return newCount > 0 && oldestNewKey < newestKey; // guard: new records are newer
}

function nextPage(
  { direction, count }: KnownList,
  plan: Plan,
  pages: readonly PageAnswer[],
): IncrementalStep {
  if (pages.length >= pagesMax) return full('the new records are on too many pages');
  // The page with the newest known record and one before it.
  const first = direction === 'up' ? plan.numberBefore(Math.max(0, count - 2)) : 0;
  const number = first + pages.length;
  const last = pages.at(-1);
  const isPastEnd = last !== undefined && last.summary.count < last.size;
  const page = isPastEnd ? null : plan.at(number);
  return page === null ? full('the pages do not reach a known record') : { kind: 'ask', number };
}

function full(reason: string): IncrementalStep {
  return { kind: 'full', reason };
}
