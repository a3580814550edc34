const chunkBits = 1 << 15;
const chunkBytes = chunkBits / 8;

/**
 * A set of row ids at one bit a row. Ids of one neighbourhood share a chunk of 4 KiB, so that the service's own ids,
 * which may lie anywhere, cost no more than they must.
 */
export class IdSet {
  readonly #chunks = new Map<number, Uint8Array>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: number): boolean {
    const index = Math.floor(id / chunkBits);
    const bit = id - index * chunkBits;
    const chunk = this.#chunks.get(index);
    return chunk !== undefined && ((chunk[bit >> 3] as number) & (1 << (bit & 7))) !== 0;
  }

  /** Adds an id; false where it was there already. */
  add(id: number): boolean {
    const index = Math.floor(id / chunkBits);
    const bit = id - index * chunkBits;
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      chunk = new Uint8Array(chunkBytes);
      this.#chunks.set(index, chunk);
    }
    const byte = chunk[bit >> 3] as number;
    const mask = 1 << (bit & 7);
    if ((byte & mask) !== 0) return false;
    chunk[bit >> 3] = byte | mask;
    this.#size++;
    return true;
  }
}
