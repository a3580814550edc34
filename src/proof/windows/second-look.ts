import { beginOf, type ItemsOf, type PageAddress } from './page.ts';
import { type Plan, pageAround, reachOf } from './plan.ts';
import type { KeyWindows, Verdict } from './verdict.ts';
import { inOrder, isIn, type Window } from './window.ts';

/** The most times that rows to be removed are searched for again. */
export const secondLooksMax = 3;
/**
 * The most of the list, as a share, that is looked at by single pages. For more, the whole list is read by a plan of
 * its own.
 */
const wholeFromShare = 1 / 2;
/** Records on both sides of a place by which a page must reach beyond it, if it can. The list might have moved. */
const marginMax = 10;
const marginShare = 1 / 4;

/** The facts that a second look needs. */
export interface SecondLook {
  /** The keys of the rows that would be removed. */
  readonly keys: Float64Array;
  readonly largest: number;
  readonly newestTotal: number;
  /** A plan for the whole list by addresses that no run has used. */
  readonly wholePlan: Plan;
  readonly isUsed: (address: PageAddress) => boolean;
  readonly itemsOf: ItemsOf;
}

/**
 * The pages for a second look at rows that would be removed, at addresses that no run has used for so long that no
 * cache can have kept them. They are a few pages around the places of the rows or, for many rows, the whole list by
 * another plan.
 */
export function pagesOfSecondLook(
  rule: Verdict['rule'],
  windows: KeyWindows | null,
  look: SecondLook,
): PageAddress[] {
  const { newestTotal, largest, isUsed } = look;
  if (rule === 'page') {
    for (let size = largest; size > newestTotal; size--)
      if (!isUsed({ index: 0, size })) return [{ index: 0, size }];
    return [];
  }
  return rule === 'key' && windows !== null ? pagesByKey(windows, look) : [];
}

function pagesByKey(windows: KeyWindows, look: SecondLook): PageAddress[] {
  const { wholePlan, newestTotal, largest, isUsed } = look;
  const wholeCount = wholePlan.countFor(newestTotal);
  const pagesMax = wholeCount === null ? Number.POSITIVE_INFINITY : Math.max(1, wholeCount * wholeFromShare);
  const pages: PageAddress[] = [];
  let covered = -1;
  for (const place of placesOf(windows, look)) {
    if (place < covered) continue;
    const page = pageFrom(place, largest, newestTotal, isUsed);
    if (page === null) continue;
    pages.push(page);
    if (pages.length > pagesMax) return wholePages(wholePlan, wholeCount as number);
    covered = isEnd(page, newestTotal)
      ? Number.POSITIVE_INFINITY
      : Math.max(place + 1, reachOf(page) - marginOf(page.size));
  }
  return pages;
}

function wholePages(plan: Plan, count: number): PageAddress[] {
  return Array.from({ length: count }, (_, number) => plan.at(number) as PageAddress);
}

/** The page that begins some records before a place and reaches furthest. */
function pageFrom(
  place: number,
  largest: number,
  total: number,
  isUsed: (address: PageAddress) => boolean,
): PageAddress | null {
  let best: PageAddress | null = null;
  for (let size = largest; size > largest / 2; size--) {
    const margin = marginOf(size);
    const page = { index: Math.max(0, Math.floor((place - margin) / size)), size };
    const isWithin = reachOf(page) >= place + 1 + margin || isEnd(page, total);
    // A page that begins at the end of the list has no record, and says nothing.
    const isThere = page.index === 0 || beginOf(page) < total;
    if (!isWithin || !isThere || isUsed(page)) continue;
    if (best === null || reachOf(page) > reachOf(best)) best = page;
  }
  return best ?? pageAround(place, place + 1, largest, isUsed);
}

function marginOf(size: number): number {
  return Math.min(marginMax, Math.floor(size * marginShare));
}

function isEnd(page: PageAddress, total: number): boolean {
  return reachOf(page) > total;
}

/** The place of each row in the list, by a window that covers its key. */
function placesOf({ windows, direction }: KeyWindows, { keys, itemsOf }: SecondLook): number[] {
  const sorted = windows.toSorted((a, b) => a.from - b.from);
  const places: number[] = [];
  let at = 0;
  for (const key of keys.map(each => inOrder(each, direction)).sort()) {
    while (at + 1 < sorted.length && !isIn(key, sorted[at] as Window) && (sorted[at] as Window).to <= key)
      at++;
    const window = sorted[at];
    if (window !== undefined) places.push(placeIn(window, key, itemsOf));
  }
  return places.sort((a, b) => a - b);
}

function placeIn({ answer }: Window, key: number, itemsOf: ItemsOf): number {
  const begin = beginOf(answer);
  const keys = itemsOf(answer)?.keys;
  // The row is somewhere on a page that was known, and not read.
  if (keys === undefined) return begin + Math.floor(answer.summary.count / 2);
  const isDown = (keys[0] ?? 0) > (keys.at(-1) ?? 0);
  const before = keys.findIndex(other => (isDown ? -other : other) >= key);
  return begin + (before < 0 ? keys.length : before);
}
