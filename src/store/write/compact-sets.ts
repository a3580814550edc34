import { contentBytes } from '../../contract/sum.ts';

const wordBits = 32;

/** A set of ids, 32 neighbours to a word: a million dense ones take about a megabyte. */
export class BitSet {
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

  /** The ranges of ids from `least` to `most` that are not in the set, from their first to their last one. */
  *gaps(least: number, most: number): Generator<{ readonly from: number; readonly to: number }> {
    let from: number | null = null;
    for (let id = least; id <= most + 1; id++) {
      const word = Math.floor(id / wordBits);
      const isWordFull = from === null && id === word * wordBits && this.#words.get(word) === -1;
      if (isWordFull) id += wordBits - 1;
      else if (id > most || this.has(id)) {
        if (from !== null) yield { from, to: id - 1 };
        from = null;
      } else from ??= id;
    }
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

const slotsAtFirst = 1024;
/** The largest part of the table that is filled. */
const loadMax = 0.5;

/** Numbers hashes of 16 bytes from 1, in some 25 bytes each: a map with a text for each takes four times as much. */
export class InternTable {
  #slots;
  #hashes;
  #count = 0;

  /** @param countAtFirst how many hashes have room before it grows. */
  constructor(countAtFirst = slotsAtFirst * loadMax) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(countAtFirst / loadMax + 1)));
    this.#hashes = new Uint8Array(this.#slots.length * loadMax * contentBytes);
  }

  get count(): number {
    return this.#count;
  }

  /** The number of the hash at an offset; a new one gets the next number. */
  numberOf(bytes: Uint8Array, offset = 0): number {
    if (this.#count >= this.#slots.length * loadMax) this.#grow();
    const slot = this.#slotOf(bytes, offset);
    const known = this.#slots[slot] as number;
    if (known > 0) return known;
    const from = this.#count * contentBytes;
    for (let byte = 0; byte < contentBytes; byte++)
      this.#hashes[from + byte] = bytes[offset + byte] as number;
    this.#slots[slot] = ++this.#count;
    return this.#count;
  }

  /** The number of the hash at an offset; null if it has none. */
  find(bytes: Uint8Array, offset = 0): number | null {
    return this.#slots[this.#slotOf(bytes, offset)] || null;
  }

  /** The 16 bytes that have a number. */
  bytesOf(number: number): Uint8Array {
    return this.#hashes.subarray((number - 1) * contentBytes, number * contentBytes);
  }

  /** The slot of a hash, or the free slot where it belongs. */
  #slotOf(bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1;
    const at = (byte: number) => bytes[offset + byte] as number;
    let slot = (at(0) | (at(1) << 8) | (at(2) << 16) | (at(3) << 24)) & mask;
    for (let number = this.#slots[slot] as number; number > 0; number = this.#slots[slot] as number) {
      if (this.#isAt(number, bytes, offset)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isAt(number: number, bytes: Uint8Array, offset: number): boolean {
    const from = (number - 1) * contentBytes;
    for (let byte = 0; byte < contentBytes; byte++)
      if (this.#hashes[from + byte] !== bytes[offset + byte]) return false;
    return true;
  }

  #grow(): void {
    const hashes = new Uint8Array(this.#hashes.length * 2);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let number = 1; number <= this.#count; number++)
      this.#slots[this.#slotOf(hashes, (number - 1) * contentBytes)] = number;
  }
}
