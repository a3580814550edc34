import { type Chain, type KeyWindows, openRanges, type Window } from './cover.ts';
import type { KeyOrder } from './order.ts';
import {
  beginOf,
  endOf,
  type Identity,
  inOrder,
  isIn,
  type KeyRange,
  type PageAddress,
  reachOf,
} from './window.ts';

/** Pages are not worth asking for if they are all smaller than this share of the largest size. */
const smallestShare = 1 / 3;
/** Records that neighbouring pages have in common: so many can be added or removed between two answers without a gap. */
const overlapShare = 1 / 50;
const overlapMin: Readonly<Record<Identity, number>> = { id: 2, content: 3 };
const overlapMax = 10;
/** The number of sizes below the largest that are tried for a page around a place. */
const sizesTriedMax = 40;

/** The least number of records that two neighbouring pages of a plan share. If keys repeat, a page does not cover its edges. */
export function overlapOf(largest: number, identity: Identity): number {
  return Math.min(overlapMax, Math.max(overlapMin[identity], Math.round(largest * overlapShare)));
}

const isSame = (a: PageAddress, b: PageAddress): boolean => a.index === b.index && a.size === b.size;

/** Tells whether an address must be left out. */
type IsUsed = (page: PageAddress) => boolean;

/**
 * Plans pages so that each begins before the one before it ends. Many pages begin `overlap` records before the end of those so far:
 * it takes the one that reaches furthest. The plan depends on its arguments alone, so a later run asks for the same pages.
 */
export class Plan {
  readonly #largest: number;
  readonly #overlap: number;
  readonly #isUsed: IsUsed;
  readonly #pages: PageAddress[] = [];
  #reach = 0;
  #isStopped = false;

  constructor(largest: number, overlap: number, isUsed: IsUsed = () => false) {
    this.#largest = largest;
    this.#overlap = overlap;
    this.#isUsed = isUsed;
  }

  /** A page of the plan, from 0; null if the plan ends before it. */
  at(number: number): PageAddress | null {
    while (this.#pages.length <= number && !this.#isStopped) this.#extend();
    return this.#pages[number] ?? null;
  }

  /** How many pages it takes until one reaches beyond a list of `total` records: that one is not full. Null if the plan stops before. */
  countFor(total: number): number | null {
    for (let number = 0; ; number++) {
      const page = this.at(number);
      if (page === null) return null;
      if (reachOf(page) > total) return number + 1;
    }
  }

  /** The first page that begins at a place or after it; a list that begins there needs the page before it. */
  numberBefore(place: number): number {
    let number = 0;
    for (let page = this.at(1); page !== null && beginOf(page) <= place; page = this.at(number + 1)) number++;
    return number;
  }

  #extend(): void {
    let best: PageAddress | null = null;
    const smallest = Math.max(1, Math.floor(this.#largest * smallestShare));
    for (let size = this.#largest; size >= smallest; size--) {
      const index = Math.floor((this.#reach - this.#overlap) / size);
      const page = { index: Math.max(0, index), size };
      if (this.#reach > 0 && index < 1) continue;
      if (best !== null && reachOf(page) <= reachOf(best)) continue;
      if (!this.#isUsed(page)) best = page;
    }
    if (best === null || reachOf(best) <= this.#reach) {
      this.#isStopped = true;
      return;
    }
    this.#reach = reachOf(best);
    this.#pages.push(best);
  }
}

/**
 * Page sizes below the largest for a second reading, in the order in which a run tries them; the next run begins with the next one.
 * Their pages are cut at other places than those of the largest size, and there are hardly more of them.
 */
export function otherSizes(largest: number, run: number): number[] {
  const lowest = Math.max(
    1,
    Math.min(largest - 1, Math.max(largest - sizesTriedMax, Math.floor(largest * 0.9))),
  );
  const sizes: number[] = [];
  for (let size = largest - 1; size >= lowest; size--) if (divisor(size, largest) === 1) sizes.push(size);
  if (sizes.length === 0) return largest === 1 ? [2] : [largest - 1];
  return rotated(sizes, run);
}

/** Page sizes for pages around a place, in the order in which a run tries them. */
export function sizesOf(largest: number, run: number): number[] {
  const count = Math.max(1, Math.min(sizesTriedMax, Math.floor(largest / 2)));
  return rotated(
    Array.from({ length: count }, (_, at) => largest - at),
    run,
  );
}

function rotated(sizes: readonly number[], run: number): number[] {
  const from = run % sizes.length;
  return [...sizes.slice(from), ...sizes.slice(0, from)];
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** The pages of one size that together have a range of places inside, and at least one record on both sides. */
export function pagesAcross({ from, to }: PlaceRange, size: number, total: number): PageAddress[] {
  const first = Math.max(0, Math.floor((from - 1) / size));
  const end = Math.ceil(Math.min(to + 1, total) / size);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => ({ index: first + at, size }));
}

/** Places of the list, from one to the place after the last. */
export interface PlaceRange {
  readonly from: number;
  readonly to: number;
}

/** Records on both sides of a place by which a page must reach beyond it, if it can. The list might have moved. */
const marginMax = 10;
const marginShare = 1 / 4;

/**
 * A page that has a range of places inside: the first size with enough records on both sides or, if none has them, the one with the
 * most. Null if none has the range inside at an unused address.
 */
export function pageAround(
  { from, to }: PlaceRange,
  sizes: readonly number[],
  isUsed: IsUsed,
): PageAddress | null {
  let best: PageAddress | null = null;
  let bestSlack = 0;
  for (const size of sizes) {
    const margin = Math.min(marginMax, Math.floor(size * marginShare));
    const middle = Math.floor(Math.max(0, (from + to) / 2 - size / 2) / size);
    for (const index of [middle, middle + 1]) {
      const page = { index, size };
      // There is nothing before the first page.
      const before = index === 0 ? Number.POSITIVE_INFINITY : from - beginOf(page);
      const slack = Math.min(margin, before, reachOf(page) - to);
      if (slack <= bestSlack || isUsed(page)) continue;
      best = page;
      bestSlack = slack;
    }
    if (bestSlack >= margin) return best;
  }
  return best;
}

/** How what windows leave open can be closed: by pages that have it inside or, for records of one key that no page has inside, by reading across them. */
export interface Repairs {
  readonly pages: readonly PageAddress[];
  readonly across: readonly Tie[];
}

/** The places of records that share keys, and these keys, in the order of the list. */
export interface Tie extends PlaceRange {
  readonly keys: KeyRange;
}

/** The pages that close gaps between chains, keys that are only at edges, and the end of the list. */
export function repairsOf(windows: KeyWindows, total: number, largest: number, isUsed: IsUsed): Repairs {
  const sizes = Array.from({ length: Math.ceil(largest * (1 - smallestShare)) }, (_, at) => largest - at);
  const pages: PageAddress[] = [];
  const across: Tie[] = [];
  for (const place of openPlaces(windows, total)) {
    const isTaken = (page: PageAddress) => isUsed(page) || pages.some(other => isSame(other, page));
    // A page that is asked for already can have two places inside.
    if (pages.some(page => beginOf(page) < place.from && reachOf(page) > place.to)) continue;
    const page = pageAround(place, sizes, isTaken);
    if (page !== null) pages.push(page);
    else if ('keys' in place) across.push(place);
  }
  return { pages, across };
}

function openPlaces({ chains, ...order }: KeyWindows, total: number): (PlaceRange | Tie)[] {
  const places: (PlaceRange | Tie)[] = [];
  const add = (a: number, b: number) =>
    places.push({ from: Math.min(a, b) - order.stretch, to: Math.max(a, b) + order.stretch });
  let before: Chain | null = null;
  for (const chain of chains) {
    const head = chain.windows[0] as Window;
    if (before !== null) add(endOf(before.last.answer), beginOf(head.answer));
    else if (head.from !== Number.NEGATIVE_INFINITY) add(0, beginOf(head.answer));
    // Keys that several records can share, and that are at the edge of every window that shows them.
    const within = { from: head.from, to: chain.last.to, isFromIn: false, isToIn: false };
    for (const range of openRanges(chain.windows, within)) {
      const { from, to } = placesIn(chain.windows, range, order);
      if (from < to) places.push({ from, to, keys: range });
    }
    before = chain;
  }
  if (before === null) return [{ from: 0, to: total }];
  if (before.last.to !== Number.POSITIVE_INFINITY)
    places.push({ from: Math.min(endOf(before.last.answer), total) - order.stretch, to: total });
  return places;
}

/** The places of all records whose keys are in a range or a slack beyond it, at its edges, too: a page must have all of them inside. */
function placesIn(
  windows: readonly Window[],
  { from, to }: KeyRange,
  { direction, slack }: KeyOrder,
): PlaceRange {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const { answer, ...window } of windows) {
    if (window.to < from || window.from > to) continue;
    const { keys } = answer.page;
    for (let at = 0; at < keys.length; at++) {
      const key = inOrder(keys[at] as number, direction);
      if (key < from - slack || key > to + slack) continue;
      least = Math.min(least, beginOf(answer) + at);
      most = Math.max(most, beginOf(answer) + at + 1);
    }
  }
  return { from: least, to: most };
}

/**
 * The pages of a second look around rows that would be removed, by sizes that rotate with the run's number. If they were more than half
 * of the list, or if records can be anywhere, the whole list is read by a plan of its own.
 */
export function pagesToConfirm(
  { windows, ...order }: KeyWindows,
  keys: readonly number[],
  look: { total: number; largest: number; identity: Identity; run: number; isUsed: IsUsed },
): Repairs {
  const { total, largest, identity, run, isUsed } = look;
  const sizes = sizesOf(largest, run);
  const whole = new Plan(sizes[0] as number, overlapOf(largest, identity) + order.stretch, isUsed);
  const wholeCount = whole.countFor(total);
  const allPages = Array.from({ length: wholeCount ?? 0 }, (_, number) => whole.at(number) as PageAddress);
  if (order.strays > 0) return { pages: allPages, across: [] };
  const pages: PageAddress[] = [];
  const across: Tie[] = [];
  const isTaken = (page: PageAddress) => isUsed(page) || pages.some(other => isSame(other, page));
  const ordered = keys.map(key => inOrder(key, order.direction));
  for (const place of placesOf(windows, ordered, order)) {
    const isInside = (page: PageAddress) =>
      (page.index === 0 || beginOf(page) < place.from) && (reachOf(page) > place.to || reachOf(page) > total);
    if (pages.some(isInside)) continue;
    const page = pageAround(place, sizes, isTaken);
    if (page === null && place.from < place.to) across.push(place);
    if (page === null || (page.index > 0 && beginOf(page) >= total)) continue;
    pages.push(page);
    const areMany = wholeCount !== null && pages.length > Math.max(1, wholeCount / 2);
    if (areMany && identity === 'id') return { pages: allPages, across };
  }
  return { pages, across };
}

/** The places at which the list has, or can have, the records of a key, by a window that covers it; each once, in order. */
function placesOf(
  windows: readonly Window[],
  keys: readonly number[],
  { direction, slack }: KeyOrder,
): Tie[] {
  const sorted = windows.toSorted((a, b) => a.from - b.from);
  const places: Tie[] = [];
  let at = 0;
  for (const key of [...new Set(keys)].sort((a, b) => a - b)) {
    while (at + 1 < sorted.length && !isIn(key, sorted[at] as Window) && (sorted[at] as Window).to <= key)
      at++;
    const answer = sorted[at]?.answer;
    if (answer === undefined) continue;
    const { keys: all, count } = answer.page;
    const begin = all.findIndex(other => inOrder(other, direction) >= key - slack);
    const end = all.findLastIndex(other => inOrder(other, direction) <= key + slack) + 1;
    const from = beginOf(answer) + (begin < 0 ? count : begin);
    const to = Math.max(from, beginOf(answer) + end);
    places.push({ from, to, keys: { from: key, to: key, isFromIn: true, isToIn: true } });
  }
  return places.sort((a, b) => a.from - b.from);
}
