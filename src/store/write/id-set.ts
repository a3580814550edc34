const wordBits = 32;

/** A set of ids, 32 neighbours to a word: a million dense ones take about a megabyte. */
export class IdSet {
  readonly #words = new Map<number, number>();
  size = 0;

  has(id: number): boolean {
    const word = Math.floor(id / wordBits);
    return ((this.#words.get(word) ?? 0) & (1 << (id - word * wordBits))) !== 0;
  }

  /** Adds an id; false if it was there already. */
  add(id: number): boolean {
    return this.#set(id, true);
  }

  /** Removes an id; false if it was not there. */
  delete(id: number): boolean {
    return this.#set(id, false);
  }

  /** The first id from `from` to `to` that is not in the set; null if there is none. */
  firstMissing(from: number, to: number): number | null {
    for (let id = from; id <= to; id++) {
      const word = Math.floor(id / wordBits);
      if (id === word * wordBits && this.#words.get(word) === -1) id += wordBits - 1;
      else if (!this.has(id)) return id;
    }
    return null;
  }

  #set(id: number, isIn: boolean): boolean {
    const word = Math.floor(id / wordBits);
    const bits = this.#words.get(word) ?? 0;
    const bit = 1 << (id - word * wordBits);
    if (((bits & bit) !== 0) === isIn) return false;
    this.#words.set(word, bits ^ bit);
    this.size += isIn ? 1 : -1;
    return true;
  }
}
