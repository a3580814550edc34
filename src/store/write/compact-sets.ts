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
    const word = Math.floor(id / wordBits);
    const bits = this.#words.get(word) ?? 0;
    const bit = 1 << (id - word * wordBits);
    if ((bits & bit) !== 0) return false;
    this.#words.set(word, bits | bit);
    this.size++;
    return true;
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
}

/** The first and the last id of neighbouring rows; SQL reads it as it is. */
export type Range = readonly [first: number, last: number];

/** The ids in ranges. */
export function idsOf(ranges: readonly Range[]): number[] {
  const ids: number[] = [];
  for (const [first, last] of ranges) for (let id = first; id <= last; id++) ids.push(id);
  return ids;
}

/** Ids as ranges, in their order; null if one is missing. */
export function rangesOf(ids: readonly (number | null)[]): Range[] | null {
  const ranges: [first: number, last: number][] = [];
  for (const id of ids) {
    if (id === null) return null;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === id) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges;
}

const countAtFirst = 1024;
/** The largest part of the slots that is filled, and by how much a table grows. */
const loadMax = 0.7;
const growth = 1.5;

/** Numbers hashes of 16 bytes, or keys of another width, from 1: a map with a text for each takes four times as much memory. */
export class InternTable {
  readonly #width: number;
  #slots: Int32Array;
  #keys: Uint8Array;
  #count = 0;

  /** @param room how many keys have room before it grows. */
  constructor(room = countAtFirst, width = contentBytes) {
    this.#width = width;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(room / loadMax + 1)));
    this.#keys = new Uint8Array(room * width);
  }

  get count(): number {
    return this.#count;
  }

  /** The number of the key at an offset; a new one gets the next number. */
  numberOf(bytes: Uint8Array, offset = 0): number {
    if (this.#count + 1 > this.#slots.length * loadMax) this.#growSlots();
    const slot = this.#slotOf(bytes, offset);
    const known = this.#slots[slot] as number;
    if (known > 0) return known;
    const from = this.#count * this.#width;
    this.#keys = withRoom(this.#keys, from + this.#width);
    for (let byte = 0; byte < this.#width; byte++) this.#keys[from + byte] = bytes[offset + byte] as number;
    this.#slots[slot] = ++this.#count;
    return this.#count;
  }

  /** The number of the key at an offset; null if it has none. */
  find(bytes: Uint8Array, offset = 0): number | null {
    return this.#slots[this.#slotOf(bytes, offset)] || null;
  }

  /** The bytes that have a number. */
  bytesOf(number: number): Uint8Array {
    return this.#keys.subarray((number - 1) * this.#width, number * this.#width);
  }

  /** The slot of a key, or the free slot where it belongs. */
  #slotOf(bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1;
    // Keys can be neighbours of each other: the factors spread them.
    const mixed = wordAt(bytes, offset) ^ Math.imul(wordAt(bytes, offset + 4), 0x85ebca6b);
    const spread = Math.imul(mixed, 0x9e3779b1);
    let slot = (spread ^ (spread >>> 15)) & mask;
    for (let number = this.#slots[slot] as number; number > 0; number = this.#slots[slot] as number) {
      if (this.#isAt(number, bytes, offset)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isAt(number: number, bytes: Uint8Array, offset: number): boolean {
    const from = (number - 1) * this.#width;
    for (let byte = 0; byte < this.#width; byte++)
      if (this.#keys[from + byte] !== bytes[offset + byte]) return false;
    return true;
  }

  #growSlots(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let number = 1; number <= this.#count; number++)
      this.#slots[this.#slotOf(this.#keys, (number - 1) * this.#width)] = number;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  const byte = (place: number) => bytes[at + place] as number;
  return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
}

/** The array if it has so many elements; a longer copy if not. */
export function withRoom<Numbers extends Uint8Array | Int32Array>(array: Numbers, length: number): Numbers {
  if (length <= array.length) return array;
  const longer = new (array.constructor as new (length: number) => Numbers)(Math.ceil(length * growth));
  longer.set(array);
  return longer;
}
