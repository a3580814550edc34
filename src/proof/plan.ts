import { type Chain, type KeyWindows, openRanges, type Window } from './cover.ts';
import { countedAnswers, isClaim, isCounted, isFull, lostMax } from './ends.ts';
import type { KeyOrder } from './order.ts';
import type { PlaceRange } from './ties.ts';
import {
  type Answer,
  addressText,
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

/** The least number of records that two neighbouring pages of a plan share. If keys repeat, a page does not cover its edges. */
export function overlapOf(largest: number, identity: Identity): number {
  return Math.min(overlapMax, Math.max(overlapMin[identity], Math.round(largest * overlapShare)));
}

/** Tells whether an address must be left out. */
type IsUsed = (page: PageAddress) => boolean;

/** How pages are planned. */
interface PlanOptions {
  readonly isUsed?: IsUsed;
  /** The places of the records that share a key with the one at a place; null if pages overlap by more than these. */
  readonly tieAt?: (place: number) => PlaceRange | null;
  /** The first pages, if they were planned before. */
  readonly planned?: readonly PageAddress[];
  /** A place that the first page shows, if not that of the first record. */
  readonly from?: number;
}

/** Pages that each begin `overlap` records before the end of those so far, and reach as far as they can. Each run plans the same ones. */
export class Plan {
  readonly #largest: number;
  readonly #overlap: number;
  readonly #isUsed: IsUsed;
  readonly #tieAt: (place: number) => PlaceRange | null;
  readonly #pages: PageAddress[];
  #reach: number;
  /** Whether ties have had a part in it. */
  #isByTies: boolean;
  #unheld = 0;

  constructor(largest: number, overlap: number, options: PlanOptions = {}) {
    const { isUsed = () => false, tieAt = () => null, planned = [], from = 0 } = options;
    this.#largest = largest;
    this.#overlap = overlap;
    this.#isUsed = isUsed;
    this.#tieAt = tieAt;
    this.#pages = [...planned];
    this.#reach = planned.reduce((most, page) => Math.max(most, reachOf(page)), from);
    this.#isByTies = planned.length > 0;
  }

  /** The pages so far if ties have had a part in them: the same can't be planned once the mirror has changed. Null if they have had none. */
  get byTies(): readonly PageAddress[] | null {
    return this.#isByTies ? this.#pages : null;
  }

  /** How many ties no page has inside. */
  get unheld(): number {
    return this.#unheld;
  }

  /** A page of the plan, from 0; null if the plan ends before it. */
  at(number: number): PageAddress | null {
    while (this.#pages.length <= number && this.#extend());
    return this.#pages[number] ?? null;
  }

  /** The pages until one reaches beyond a list of `total` records: that one is not full. Null if the plan ends before. */
  to(total: number): PageAddress[] | null {
    while (this.#reach <= total) if (!this.#extend()) return null;
    return this.#pages.slice(0, this.#pages.findIndex(page => reachOf(page) > total) + 1);
  }

  #extend(): boolean {
    const isFirst = this.#pages.length === 0;
    const tie = isFirst ? null : this.#tieAt(this.#reach - 1);
    this.#isByTies ||= tie !== null;
    // A page with the whole tie inside begins as if the first of its records had been the last one so far.
    const around = tie && this.#furthest(tie.from + 1 - this.#overlap);
    const isHeld = tie !== null && around !== null && reachOf(around) > tie.to;
    if (tie !== null && !isHeld) this.#unheld++;
    const best = isHeld ? around : this.#furthest(this.#reach - (isFirst ? 0 : this.#overlap));
    if (best === null || reachOf(best) <= this.#reach) return false;
    this.#reach = reachOf(best);
    this.#pages.push(best);
    return true;
  }

  /** The page that reaches furthest of those that do not begin behind a place. */
  #furthest(begin: number): PageAddress | null {
    let best: PageAddress | null = null;
    const smallest = Math.max(1, Math.floor(this.#largest * smallestShare));
    for (let size = this.#largest; size >= smallest; size--) {
      const index = Math.floor(begin / size);
      const page = { index: Math.max(0, index), size };
      if (this.#pages.length > 0 && index < 1) continue;
      if (best !== null && reachOf(page) <= reachOf(best)) continue;
      if (!this.#isUsed(page)) best = page;
    }
    return best;
  }
}

/** At most so many page sizes are tried. */
export const sizesMax = 40;

/** Page sizes for more readings; the next run begins with the next one. Their pages are cut at other places, and are hardly more. */
export function otherSizes(largest: number, run: number): number[] {
  const smaller = sizesBetween(2, largest - 1);
  const others = smaller.filter(size => divisor(size, largest) === 1);
  const near = others.filter(size => size >= Math.max(Math.floor(largest * 0.9), largest - sizesMax));
  if (near.length > 1) return rotated(near, run);
  return largest === 1 ? [2] : [...new Set([...others, ...smaller])].slice(0, 2);
}

/** Page sizes for pages around a place, in the order in which a run tries them. */
export function sizesOf(largest: number, run: number): number[] {
  return rotated(sizesBetween(Math.max(Math.ceil(largest / 2), largest - sizesMax) + 1, largest), run);
}

/** The largest first. */
function sizesBetween(least: number, most: number): number[] {
  const lowest = Math.max(1, Math.min(least, most));
  return Array.from({ length: Math.max(0, most - lowest + 1) }, (_, at) => most - at);
}

function rotated(sizes: readonly number[], run: number): number[] {
  return sizes.map((_, at) => sizes[(at + run) % sizes.length] as number);
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

/** Records on both sides of a place by which a page must reach beyond it, if it can. The list might have moved. */
const marginMax = 10;
const marginShare = 1 / 4;

/** A page with a range of places inside: the first size with enough records on both sides, or the one with the most; null if none has. */
function pageAround({ from, to }: PlaceRange, sizes: readonly number[], isUsed: IsUsed): PageAddress | null {
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

/** The places of records that share keys, and these keys, in the order of the list. */
export interface Tie extends PlaceRange {
  readonly keys: KeyRange;
}

/** Pages that have places of interest inside and, for records of one key that no page has inside, what has to be read across. */
export interface Repairs {
  readonly pages: readonly PageAddress[];
  readonly across: readonly Tie[];
}

function pagesFor(
  places: readonly (PlaceRange | Tie)[],
  sizes: readonly number[],
  total: number,
  isUsed: IsUsed,
): Repairs {
  const pages: PageAddress[] = [];
  const across: Tie[] = [];
  const isTaken = (page: PageAddress) =>
    isUsed(page) || pages.some(({ index, size }) => index === page.index && size === page.size);
  for (const place of places) {
    // A page that is asked for already can have two places inside.
    const isInside = (page: PageAddress) =>
      (page.index === 0 || beginOf(page) < place.from) && (reachOf(page) > place.to || reachOf(page) > total);
    if (pages.findLast(isInside) !== undefined) continue;
    const page = pageAround(place, sizes, isTaken);
    if (page !== null) pages.push(page);
    else if ('keys' in place && place.from < place.to) across.push(place);
  }
  return { pages, across };
}

/** The pages that close gaps between chains, keys that are only at edges, and the end of the list. */
export function repairsOf(windows: KeyWindows, total: number, largest: number, isUsed: IsUsed): Repairs {
  const least = Math.floor(largest * smallestShare) + 1;
  return pagesFor(openPlaces(windows, total, largest / 2), sizesBetween(least, largest), total, isUsed);
}

/** The pages of a second look for rows: around them, or of the whole list if those are more than half of it, or records can be anywhere. */
export function pagesToConfirm(
  { windows, ...order }: KeyWindows,
  keys: readonly number[],
  total: number,
  { largest, overlap, identity, run }: { largest: number; overlap: number; identity: Identity; run: number },
  isUsed: IsUsed,
): Repairs {
  const sizes = sizesOf(largest, run);
  const whole = new Plan(sizes[0] as number, overlap + order.stretch, { isUsed }).to(total) ?? [];
  if (order.strays > 0) return { pages: whole, across: [] };
  const ordered = keys.map(key => inOrder(key, order.direction));
  const found = pagesFor(placesOf(windows, ordered, order, total), sizes, total, isUsed);
  const areMany = whole.length > 0 && found.pages.length > Math.max(1, whole.length / 2);
  return areMany && identity === 'id' ? { ...found, pages: whole } : found;
}

/** @param step by how many places it is read on from one side of a gap. */
function openPlaces({ chains, ...order }: KeyWindows, total: number, step: number): (PlaceRange | Tie)[] {
  const places: (PlaceRange | Tie)[] = [];
  const add = (a: number, b: number) =>
    places.push({ from: Math.min(a, b) - order.stretch, to: Math.max(a, b) + order.stretch });
  let before: Chain | null = null;
  for (const chain of chains) {
    const head = chain.windows[0] as Window;
    if (before !== null) {
      const [end, begin] = [endOf(before.last.answer), beginOf(head.answer)];
      const [isEndOld, isBeginOld] = [before.last.answer.isRecalled, head.answer.isRecalled];
      // The list has moved since the older one came, nobody knows how far: it is read on from the other one.
      if (isEndOld === isBeginOld) add(end, begin);
      else if (isEndOld) add(begin - step, begin);
      else add(end, end + step);
    } else if (head.from !== Number.NEGATIVE_INFINITY) add(0, beginOf(head.answer));
    // Keys that several records can share, and that are at the edge of every window that shows them.
    const within = { from: head.from, to: chain.last.to, isFromIn: false, isToIn: false };
    for (const keys of openRanges(chain.windows, within)) {
      const seen = chain.windows
        .filter(window => window.to >= keys.from && window.from <= keys.to)
        .map(({ answer }) => placesOn(answer, keys, order))
        .filter(({ from, to }) => from < to);
      if (seen.length === 0) continue;
      const [from, to] = [Math.min(...seen.map(each => each.from)), Math.max(...seen.map(each => each.to))];
      places.push({ from, to, keys });
    }
    before = chain;
  }
  if (before === null) return [{ from: 0, to: total }];
  if (before.last.to !== Number.POSITIVE_INFINITY)
    places.push({ from: Math.min(endOf(before.last.answer), total) - order.stretch, to: total });
  return places;
}

/** The places at which the list has, or can have, the records of a key, by a window that covers it; each once, in order. */
function placesOf(windows: readonly Window[], keys: readonly number[], order: KeyOrder, total: number) {
  const sorted = windows.toSorted((a, b) => a.from - b.from);
  const places: Tie[] = [];
  let at = 0;
  for (const key of [...new Set(keys)].sort((a, b) => a - b)) {
    while (at + 1 < sorted.length && !isIn(key, sorted[at] as Window) && (sorted[at] as Window).to <= key)
      at++;
    const answer = sorted[at]?.answer;
    const range = { from: key, to: key, isFromIn: true, isToIn: true };
    if (answer === undefined) continue;
    const { from, to } = placesOn(answer, range, order);
    // What has come since then is in front of them if the newest are first.
    const moved = order.direction === 'down' ? total - answer.total : 0;
    places.push({ from: Math.max(0, from + moved), to: Math.max(0, to + moved), keys: range });
  }
  return places.sort((a, b) => a.from - b.from);
}

/** The places of a page's records whose keys are in a range or a slack beyond it; if there is none, the place where it would be. */
function placesOn(answer: Answer, { from, to }: KeyRange, { direction, slack }: KeyOrder): PlaceRange {
  const { keys, count } = answer.page;
  const first = keys.findIndex(key => inOrder(key, direction) >= from - slack);
  const end = keys.findLastIndex(key => inOrder(key, direction) <= to + slack) + 1;
  const begin = beginOf(answer) + (first < 0 ? count : first);
  return { from: begin, to: Math.max(begin, beginOf(answer) + end) };
}

/** Records before an end that its witness shows as well, and for which it has room behind it, at most: the list can move. */
const witnessMarginMax = 10;

/** The page that can be the witness of an end: one that reaches behind it or, if no total is so small, a full one that counts. */
export function pageOfWitness(
  claim: Answer,
  heard: readonly Answer[],
  { largest, run }: { readonly largest: number; readonly run: number },
  isUsed: IsUsed,
): PageAddress | null {
  const end = endOf(claim);
  const sizes = sizesOf(largest, run);
  const marginOf = (size: number) => Math.max(1, Math.min(witnessMarginMax, Math.floor(size / 4)));
  const atEnd = sizes.map(size => ({ index: Math.max(0, Math.floor((end - marginOf(size)) / size)), size }));
  const hasRoom = (page: PageAddress) =>
    reachOf(page) > reachOf(claim) || reachOf(page) > end + lostMax + marginOf(page.size);
  const short = atEnd.find(page => beginOf(page) < end && hasRoom(page) && !isUsed(page));
  const exact = sizesBetween(2, largest)
    .filter(size => end % size === 0)
    .map(size => ({ index: end / size - 1, size }));
  // A full page that shows a record of the last one, and counts.
  const near = sizes.map(size => ({ index: Math.max(0, Math.floor(end / size) - 1), size }));
  const isNear = (page: PageAddress) => reachOf(page) <= end && reachOf(page) > beginOf(claim);
  const full = exact.find(page => !isUsed(page)) ?? near.find(page => isNear(page) && !isUsed(page));
  // If a record went between two answers, a full page counts what is left; if that is no witness, it is looked what is behind the end.
  const isTried = (other: Answer) =>
    isFull(other) && other.asked > claim.arrived && reachOf(other) > beginOf(claim);
  const counted = countedAnswers(heard);
  const isShort = isCounted([claim], counted) || counted.some(isTried);
  return (isShort ? short : full) ?? full ?? short ?? null;
}

/** The page of an older end that is claimed: if each page that is asked for the first time is of another moment than its total. */
export function pageOfOlderClaim(claim: Answer, heard: readonly Answer[]): PageAddress | null {
  const older = heard.filter(other => isClaim(other) && addressText(other) !== addressText(claim));
  return older.toSorted((a, b) => a.asked - b.asked).at(-1) ?? null;
}
