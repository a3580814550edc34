import { contentBytes } from '../../contract/sum.ts';
import type { Identity, PageItems } from './page.ts';

const slotsAtFirst = 1024;
/** At most this share of the table is filled. */
const loadMax = 0.5;
const notThere = -1;

/** Numbers the records of a list, from 0, in 40 bytes each: no objects, however long the list is. */
export class RecordTable {
  readonly #identity: Identity;
  /** For each record 8 bytes: its id, or the first half of its content. */
  #words = new Float64Array(slotsAtFirst);
  #numbers = new Int32Array(slotsAtFirst).fill(notThere);
  #count = 0;

  constructor(identity: Identity) {
    this.#identity = identity;
  }

  get count(): number {
    return this.#count;
  }

  /** The number of an item's record; a new record gets the next one. */
  numberOf(items: PageItems, at: number): number {
    if (this.#count >= this.#numbers.length * loadMax) this.#grow();
    const word = this.#wordOf(items, at);
    const slot = this.#slotOf(word);
    if (this.#numbers[slot] === notThere) {
      this.#numbers[slot] = this.#count++;
      this.#words[slot] = word;
    }
    return this.#numbers[slot] as number;
  }

  /** 52 bits of a content are enough to tell a million of them apart; equal ones would only look like twins. */
  #wordOf({ keys, contents }: PageItems, at: number): number {
    const id = keys[at] as number;
    if (this.#identity === 'id' && !Number.isNaN(id)) return id;
    const view = new DataView(contents.buffer, contents.byteOffset + at * contentBytes, contentBytes);
    return view.getUint32(0) * 2 ** 20 + (view.getUint32(4) >>> 12);
  }

  #slotOf(word: number): number {
    const slots = this.#numbers.length;
    let slot = (Math.imul((word % 2 ** 32) | 0, 0x9e3779b1) ^ Math.floor(word / 2 ** 32)) & (slots - 1);
    while (this.#numbers[slot] !== notThere && this.#words[slot] !== word) slot = (slot + 1) & (slots - 1);
    return slot;
  }

  #grow(): void {
    const words = this.#words;
    const numbers = this.#numbers;
    this.#words = new Float64Array(words.length * 2);
    this.#numbers = new Int32Array(numbers.length * 2).fill(notThere);
    for (const [at, number] of numbers.entries()) {
      if (number === notThere) continue;
      const slot = this.#slotOf(words[at] as number);
      this.#words[slot] = words[at] as number;
      this.#numbers[slot] = number;
    }
  }
}
