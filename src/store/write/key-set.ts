const slotsAtFirst = 1024;

/**
 * A set of 16-byte keys at 8 bytes a key, by open addressing: tells which new records were seen before in a walk. Two keys
 * that share their last 8 bytes count as one; the walk is then read once more, nothing else.
 */
export class KeySet {
  /** Two 32-bit words a slot; a slot of two zeros is empty. */
  #words = new Uint32Array(slotsAtFirst * 2);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: Buffer): boolean {
    const low = lowOf(key);
    const slot = this.#slotOf(low, highOf(key));
    return this.#words[slot] === low;
  }

  add(key: Buffer): void {
    if ((this.#size + 1) * 4 > this.#words.length) this.#grow();
    if (this.#put(lowOf(key), highOf(key))) this.#size++;
  }

  #put(low: number, high: number): boolean {
    const slot = this.#slotOf(low, high);
    if (this.#words[slot] === low) return false;
    this.#words[slot] = low;
    this.#words[slot + 1] = high;
    return true;
  }

  /** Where the key's words stand, or the empty slot where they would. */
  #slotOf(low: number, high: number): number {
    const words = this.#words;
    const mask = words.length - 1;
    let slot = (low * 2) & mask;
    while (words[slot] !== 0 && (words[slot] !== low || words[slot + 1] !== high)) slot = (slot + 2) & mask;
    return slot;
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    for (let slot = 0; slot < old.length; slot += 2) {
      if (old[slot] !== 0) this.#put(old[slot] as number, old[slot + 1] as number);
    }
  }
}

function lowOf(key: Buffer): number {
  // 0 marks an empty slot.
  return key.readUInt32LE(8) || 1;
}

function highOf(key: Buffer): number {
  return key.readUInt32LE(12);
}
