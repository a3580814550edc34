const wordBits = 32;

/**
 * A set of ids, 32 neighbours to a word. Its memory depends on the number of ids and not on their size: a million dense ones take
 * about a megabyte.
 */
export class IdSet {
  readonly #words = new Map<number, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: number): boolean {
    const word = Math.floor(id / wordBits);
    return ((this.#words.get(word) ?? 0) & (1 << (id - word * wordBits))) !== 0;
  }

  /** Adds an id; false if it was there already. */
  add(id: number): boolean {
    const word = Math.floor(id / wordBits);
    const bits = this.#words.get(word) ?? 0;
    const bit = 1 << (id - word * wordBits);
    if ((bits & bit) !== 0) return false;
    this.#words.set(word, bits | bit);
    this.#size++;
    return true;
  }
}
