// Phase 1, the plan: where the mirror has records that share a key, so that pages are planned around them.

import { type Answer, beginOf, type Direction, inOrder } from './window.ts';

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
  /** Their keys, the least first. */
  readonly #keys: number[];
  /** Of each tie how many records have lower keys, and how many have no higher ones. */
  readonly #edges: number[];

  /** @param ties in the order of their keys. */
  constructor(ties: readonly SharedKey[]) {
    this.#keys = ties.map(({ key }) => key);
    this.#edges = ties.flatMap(({ before, count }) => [before, before + count]);
  }

  /**
   * The places of the records that share a key with the one at a place of a list of `total` records; null if they are few. `shift` is by how
   * many places they are further behind than the mirror says.
   */
  around(place: number, direction: Direction, total: number, shift = 0): PlaceRange | null {
    const rank = direction === 'up' ? place - shift : total - 1 - place + shift;
    const at = firstOf(this.#keys.length, tie => (this.#edges[2 * tie + 1] as number) > rank);
    const tie = this.#placesOf(at, direction, total);
    const isInside = tie !== null && (this.#edges[2 * at] as number) <= rank;
    return isInside ? { from: tie.from + shift, to: tie.to + shift } : null;
  }

  /** By how many places the last tie that a page shows is further behind than the mirror says; null if the page shows no edge of it. */
  shiftOn(answer: Pick<Answer, 'index' | 'size' | 'total' | 'page'>, direction: Direction): number | null {
    const { keys, count } = answer.page;
    const [all, last] = [this.#keys, keys[count - 1]];
    if (last === undefined) return null;
    const at =
      direction === 'up'
        ? firstOf(all.length, tie => (all[tie] as number) > last) - 1
        : firstOf(all.length, tie => (all[tie] as number) >= last);
    const known = this.#placesOf(at, direction, answer.total);
    if (known === null) return null;
    const key = inOrder(all[at] as number, direction);
    const behind = firstOf(count, place => inOrder(keys[place] as number, direction) > key);
    const first = firstOf(count, place => inOrder(keys[place] as number, direction) >= key);
    if (behind > 0 && behind < count) return beginOf(answer) + behind - known.to;
    return first > 0 && first < count ? beginOf(answer) + first - known.from : null;
  }

  #placesOf(at: number, direction: Direction, total: number): PlaceRange | null {
    const [from, to] = [this.#edges[2 * at], this.#edges[2 * at + 1]];
    if (from === undefined || to === undefined) return null;
    return direction === 'up' ? { from, to } : { from: total - to, to: total - from };
  }
}

/** The first of so many numbers from 0 for which something is true, if it is also true of all later ones. */
function firstOf(count: number, isTrue: (number: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
