import type { Identity, PageAddress } from './page.ts';

/** Pages are not worth asking for if they are all smaller than this share of the largest size. */
const smallestShare = 1 / 3;
/**
 * The records that neighbouring pages have in common: so many can be added or removed between two answers without a
 * gap.
 */
const overlapShare = 1 / 50;
const overlapMin: Readonly<Record<Identity, number>> = { id: 2, content: 3 };
const overlapMax = 10;

/**
 * The least number of records that two neighbouring pages of a plan have in common. If keys repeat, a page does not
 * cover the keys at its edges.
 */
export function overlapOf(largest: number, identity: Identity): number {
  return Math.min(overlapMax, Math.max(overlapMin[identity], Math.round(largest * overlapShare)));
}

/**
 * Plans pages so that each begins before the one before it ends. Many pages begin `overlap` records
 * before the end of those so far: it takes the one that reaches furthest. The plan depends on its arguments alone, so a later run
 * asks for the same pages. It is lazy, because only answers show how long the list is.
 */
export class Plan {
  readonly #largest: number;
  readonly #overlap: number;
  readonly #isUsed: (address: PageAddress) => boolean;
  readonly #pages: PageAddress[] = [];
  #reach = 0;
  #isStopped = false;

  /**
   * @param largest the greatest page size that the service serves.
   * @param isUsed whether an address must be left out, because a cache might have kept it.
   */
  constructor(largest: number, overlap: number, isUsed: (address: PageAddress) => boolean = () => false) {
    this.#largest = largest;
    this.#overlap = overlap;
    this.#isUsed = isUsed;
  }

  /** A page of the plan, from 0; null if the plan ends before it. */
  at(number: number): PageAddress | null {
    while (this.#pages.length <= number && !this.#isStopped) this.#extend();
    return this.#pages[number] ?? null;
  }

  /**
   * How many pages it takes until one reaches beyond a list of `total` records: that one is not full. Null if the plan
   * stops before.
   */
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
    for (let page = this.at(1); page !== null && page.index * page.size <= place; page = this.at(number + 1))
      number++;
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

/** The place after the last one of a page that is full. */
export function reachOf({ index, size }: PageAddress): number {
  return (index + 1) * size;
}

/**
 * The page that has a range of places furthest from both its edges, by at least one record. Sizes near the largest are
 * tried. Null if there is none at an unused address.
 *
 * @param from the first place of the range and, `to`, the place after its last.
 */
export function pageAround(
  from: number,
  to: number,
  largest: number,
  isUsed: (address: PageAddress) => boolean,
): PageAddress | null {
  let best: PageAddress | null = null;
  let bestSlack = 0;
  const smallest = Math.max(1, largest - sizesTriedMax);
  for (let size = largest; size >= smallest; size--) {
    const middle = Math.floor(Math.max(0, (from + to) / 2 - size / 2) / size);
    for (const index of [middle, middle + 1]) {
      const page = { index, size };
      // There is nothing before the first page.
      const before = index === 0 ? Number.POSITIVE_INFINITY : from - index * size;
      const slack = Math.min(before, reachOf(page) - to);
      if (slack <= bestSlack || isUsed(page)) continue;
      best = page;
      bestSlack = slack;
    }
  }
  return best;
}

/** The number of sizes below the largest that are tried for a page around a place. */
const sizesTriedMax = 40;
