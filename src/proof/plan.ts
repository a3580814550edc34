// Phase 1, the plan: pages that overlap, planned around records that share a key, and the page sizes of all later phases. It asks for
// nothing.

import { type Answer, beginOf, type PageAddress, reachOf } from './answers.ts';
import { type Direction, type Identity, inOrder } from './keys.ts';

/** Pages are not worth asking for if they are all smaller than this share of the largest size. */
export const smallestShare = 1 / 3;
/** Records that neighbouring pages have in common: so many can be added or removed between two answers without a gap. */
const overlapShare = 1 / 50;
const overlapMin: Readonly<Record<Identity, number>> = { id: 2, content: 3 };
const overlapMax = 10;

/** The least number of records that two neighbouring pages of a plan share. If keys repeat, a page does not cover its edges. */
export function overlapOf(largest: number, identity: Identity): number {
  return Math.min(overlapMax, Math.max(overlapMin[identity], Math.round(largest * overlapShare)));
}

/** Tells whether an address must be left out. */
export type IsUsed = (page: PageAddress) => boolean;

/** So many records must neighbouring pages share at a key that repeats: one of this key, and one before it. */
const overlapAtLeast = 2;

/** How pages are planned. */
interface PlanOptions {
  readonly isUsed?: IsUsed;
  /** Whether the list seems to stand still, so that pages need no margin before ties. */
  readonly isStill?: () => boolean;
  /** The places of the records that share a key with the one at a place; null if pages overlap by more than these. */
  readonly tieAt?: (place: number) => PlaceRange | null;
  /** The first pages, if they were planned before. */
  readonly planned?: readonly PageAddress[];
  /** A place that the first page shows, if not that of the first record. */
  readonly from?: number;
}

const withoutTies = { isUsed: () => false, isStill: () => false, tieAt: () => null, planned: [], from: 0 };

/** Pages that each begin `overlap` records before the end of those so far, and reach as far as they can. Each run plans the same ones. */
export class Plan {
  readonly #largest: number;
  readonly #overlap: number;
  readonly #options: Required<PlanOptions>;
  readonly #pages: PageAddress[];
  /** How many pages were taken, or planned before. */
  #taken = 0;
  /** Whether ties have had a part in it. */
  #isByTies: boolean;
  /** How many ties no page has inside. */
  unheld = 0;

  constructor(largest: number, overlap: number, options: PlanOptions = {}) {
    [this.#largest, this.#overlap] = [largest, overlap];
    this.#options = { ...withoutTies, ...options };
    this.#pages = [...this.#options.planned];
    this.#isByTies = this.#pages.length > 0;
  }

  /** The pages so far if ties have had a part in them: the same can't be planned once the mirror has changed. Null if they have had none. */
  get byTies(): readonly PageAddress[] | null {
    return this.#isByTies ? this.#pages : null;
  }

  get #reach(): number {
    const last = this.#pages.at(-1);
    return last === undefined ? this.#options.from : reachOf(last);
  }

  /**
   * The next pages, at most so many, until one reaches beyond a list of `total` records. If ties have moved, those behind these are
   * planned by their new places.
   */
  take(total: number, most: number): readonly PageAddress[] {
    this.#pages.length = Math.min(this.#pages.length, Math.max(this.#taken, this.#options.planned.length));
    const begin = this.#taken;
    const isAtEnd = () => this.#taken > 0 && reachOf(this.#pages[this.#taken - 1] as PageAddress) > total;
    while (this.#taken - begin < most && !isAtEnd() && this.at(this.#taken) !== null) this.#taken++;
    return this.#pages.slice(begin, this.#taken);
  }

  /** How many of the pages that were planned before are left to be taken. */
  get fixedLeft(): number {
    return Math.max(0, this.#options.planned.length - this.#taken);
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
    const { isStill, tieAt } = this.#options;
    const tie = isFirst ? null : tieAt(this.#reach - 1);
    this.#isByTies ||= tie !== null;
    // A page with the whole tie inside begins as if the first of its records had been the last one so far.
    const overlap = isStill() ? Math.min(overlapAtLeast, this.#overlap) : this.#overlap;
    const around = tie && this.#furthest(tie.from + 1 - overlap);
    const isHeld = tie !== null && around !== null && reachOf(around) > tie.to;
    if (tie !== null && !isHeld) this.unheld++;
    const best = isHeld ? around : this.#furthest(this.#reach - (isFirst ? 0 : this.#overlap));
    if (best === null || reachOf(best) <= this.#reach) return false;
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
      if (!this.#options.isUsed(page)) best = page;
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
export function sizesBetween(least: number, most: number): number[] {
  const lowest = Math.max(1, Math.min(least, most));
  return Array.from({ length: Math.max(0, most - lowest + 1) }, (_, at) => most - at);
}

function rotated(sizes: readonly number[], run: number): number[] {
  return sizes.map((_, at) => sizes[(at + run) % sizes.length] as number);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** Places of the list, from one to the place after the last. */
export interface PlaceRange {
  readonly from: number;
  readonly to: number;
}

/** A key that several records of the mirror have, how many they are, and how many have lower keys. */
export interface SharedKey {
  readonly key: number;
  readonly count: number;
  readonly before: number;
}

/** Where the mirror has more records of one key than neighbouring pages share. What is planned by it can be wrong, and is repaired then. */
export class Ties {
  /** The least key first. */
  readonly #ties: readonly SharedKey[];

  /** @param ties in the order of their keys. */
  constructor(ties: readonly SharedKey[]) {
    this.#ties = ties;
  }

  /**
   * The places of the records that share a key with the one at a place of a list of `total` records; null if they are few. `shift` is by how
   * many places they are further behind than the mirror says.
   */
  around(place: number, direction: Direction, total: number, shift = 0): PlaceRange | null {
    const rank = direction === 'up' ? place - shift : total - 1 - place + shift;
    const tie = this.#ties[firstOf(this.#ties, ({ before, count }) => before + count > rank)];
    if (tie === undefined || tie.before > rank) return null;
    const { from, to } = placesOfTie(tie, direction, total);
    return { from: from + shift, to: to + shift };
  }

  /** By how many places the last tie that a page shows is further behind than the mirror says; null if the page shows no edge of it. */
  shiftOn(answer: Pick<Answer, 'index' | 'size' | 'total' | 'page'>, direction: Direction): number | null {
    const { keys, count } = answer.page;
    const last = keys[count - 1];
    if (last === undefined) return null;
    const at =
      direction === 'up'
        ? firstOf(this.#ties, ({ key }) => key > last) - 1
        : firstOf(this.#ties, ({ key }) => key >= last);
    const tie = this.#ties[at];
    if (tie === undefined) return null;
    const known = placesOfTie(tie, direction, answer.total);
    const ofTie = inOrder(tie.key, direction);
    const behind = firstOf(keys, key => inOrder(key, direction) > ofTie);
    const first = firstOf(keys, key => inOrder(key, direction) >= ofTie);
    if (behind > 0 && behind < count) return beginOf(answer) + behind - known.to;
    return first > 0 && first < count ? beginOf(answer) + first - known.from : null;
  }
}

function placesOfTie({ before, count }: SharedKey, direction: Direction, total: number): PlaceRange {
  const after = before + count;
  return direction === 'up' ? { from: before, to: after } : { from: total - after, to: total - before };
}

/** The place of the first one for which something is true, if it is also true of all later ones; the place behind the last if it is of none. */
function firstOf<One>(all: ArrayLike<One>, isTrue: (one: One) => boolean): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isTrue(all[middle] as One)) high = middle;
    else low = middle + 1;
  }
  return low;
}
