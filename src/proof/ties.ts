import type { Direction } from './window.ts';

/** Places of the list, from one to the place after the last. */
export interface PlaceRange {
  readonly from: number;
  readonly to: number;
}

/** Where the mirror has more records of one key than neighbouring pages share. What is planned by it can be wrong, and is repaired then. */
export class Ties {
  /** Of each tie how many records have lower keys, and how many have no higher ones; in order. */
  readonly #edges: Uint32Array;

  constructor(edges: Uint32Array) {
    this.#edges = edges;
  }

  /** @param counts how many records have each key, in the order of the keys. Ties of fewer than `least` are left out. */
  static of(counts: Iterable<number>, least: number): Ties {
    let edges = new Uint32Array(64);
    let [before, at] = [0, 0];
    for (const count of counts) {
      if (count >= least) {
        if (at === edges.length) {
          const longer = new Uint32Array(2 * at);
          longer.set(edges);
          edges = longer;
        }
        edges[at++] = before;
        edges[at++] = before + count;
      }
      before += count;
    }
    return new Ties(edges.slice(0, at));
  }

  /** The places of the records that share a key with the one at a place of a list of `total` records; null if they are few. */
  around(place: number, direction: Direction, total: number): PlaceRange | null {
    const rank = direction === 'up' ? place : total - 1 - place;
    const edges = this.#edges;
    let [low, high] = [0, edges.length / 2];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((edges[2 * middle + 1] as number) <= rank) low = middle + 1;
      else high = middle;
    }
    const [from, to] = [edges[2 * low], edges[2 * low + 1]];
    if (from === undefined || to === undefined || rank < from) return null;
    return direction === 'up' ? { from, to } : { from: total - to, to: total - from };
  }
}
