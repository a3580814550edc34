import { contentBytes } from '../contract/sum.ts';

const slotsAtFirst = 1024;
/** The largest part of the table that is filled. */
const loadMax = 0.5;

/** Numbers contents, from 0, in some 25 bytes each: a map with a text for each takes four times as much. */
export class ContentNumbers {
  #slots = new Int32Array(slotsAtFirst).fill(-1);
  #contents = new Uint8Array((slotsAtFirst / 2) * contentBytes);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number of the content at an offset; -1 if it has none yet. */
  find(bytes: Uint8Array, offset = 0): number {
    return this.#slots[this.#slotOf(bytes, offset)] as number;
  }

  /** The number of the content at an offset; a new one gets the next number. */
  numberOf(bytes: Uint8Array, offset = 0): number {
    if (this.#count >= this.#slots.length * loadMax) this.#grow();
    const slot = this.#slotOf(bytes, offset);
    if (this.#slots[slot] === -1) {
      const from = this.#count * contentBytes;
      for (let byte = 0; byte < contentBytes; byte++)
        this.#contents[from + byte] = bytes[offset + byte] as number;
      this.#slots[slot] = this.#count++;
    }
    return this.#slots[slot] as number;
  }

  /** The 16 bytes of a number. */
  bytesOf(number: number): Uint8Array {
    return this.#contents.subarray(number * contentBytes, (number + 1) * contentBytes);
  }

  /** The slot of a content, or the free slot where it belongs. Contents are hashes already. */
  #slotOf(bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1;
    const at = (byte: number) => bytes[offset + byte] as number;
    let slot = (at(0) | (at(1) << 8) | (at(2) << 16) | (at(3) << 24)) & mask;
    for (let number = this.#slots[slot] as number; number >= 0; number = this.#slots[slot] as number) {
      if (this.#isAt(number, bytes, offset)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isAt(number: number, bytes: Uint8Array, offset: number): boolean {
    const from = number * contentBytes;
    for (let byte = 0; byte < contentBytes; byte++)
      if (this.#contents[from + byte] !== bytes[offset + byte]) return false;
    return true;
  }

  #grow(): void {
    const contents = new Uint8Array(this.#contents.length * 2);
    contents.set(this.#contents);
    this.#contents = contents;
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1);
    for (let number = 0; number < this.#count; number++)
      this.#slots[this.#slotOf(contents, number * contentBytes)] = number;
  }
}

/** Things that are joined into groups; each is named by one of its members. */
export class Groups {
  readonly #parents: Int32Array;

  constructor(count: number) {
    this.#parents = new Int32Array(count).map((_, at) => at);
  }

  of(at: number): number {
    let group = at;
    while (this.#parents[group] !== group) group = this.#parents[group] as number;
    this.#parents[at] = group;
    return group;
  }

  join(a: number, b: number): void {
    this.#parents[this.of(b)] = this.of(a);
  }
}
