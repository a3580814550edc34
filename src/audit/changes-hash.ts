import { createHash } from 'node:crypto';

/** What a change did to a record, in the words of the view `changes`. */
export type Operation = 'insert' | 'removal' | 'update';

const contentBytes = 16;
const contentDigits = 2 * contentBytes;
const contentsPerBlock = 1024;
const linesPerUpdate = 1024;
/** As many digits as an id may have: at this length ids compare as numbers do. */
const idDigitsMax = String(Number.MAX_SAFE_INTEGER).length;

/**
 * The hash of what one run changed in one list: the SHA-256 over the lines `operation TAB record_id TAB content LF`, sorted by
 * their bytes. The changes may come in any order. They are kept until the digest is asked for, in 24 bytes each: for a million
 * about 30 MB, and some 12 MB more while they are sorted.
 */
export class ChangesHash {
  // In the order of their bytes.
  readonly #changes = { insert: new Changes(), removal: new Changes(), update: new Changes() };

  /** How many changes were added. */
  get count(): number {
    const { insert, removal, update } = this.#changes;
    return insert.count + removal.count + update.count;
  }

  /** Adds a change. `content` is 32 hexadecimal digits: what the record says now or, of a removal, what it said. */
  add(operation: Operation, recordId: number, content: string): void {
    this.#changes[operation].add(recordId, content);
  }

  /** The hash in 64 hexadecimal digits; of no change it is the SHA-256 of nothing. */
  digest(): string {
    const hash = createHash('sha256');
    for (const [operation, changes] of Object.entries(this.#changes)) {
      for (const lines of changes.sortedLines(operation)) hash.update(lines);
    }
    return hash.digest('hex');
  }
}

/** The changes of one operation. */
class Changes {
  readonly #ids: number[] = [];
  readonly #blocks: Buffer[] = [];

  get count(): number {
    return this.#ids.length;
  }

  add(id: number, content: string): void {
    if (!Number.isSafeInteger(id)) throw new RangeError(`${id} is no record's id.`);
    const at = (this.#ids.length % contentsPerBlock) * contentBytes;
    if (at === 0) this.#blocks.push(Buffer.alloc(contentsPerBlock * contentBytes));
    const block = this.#blocks.at(-1) as Buffer;
    const isContent = content.length === contentDigits && block.write(content, at, 'hex') === contentBytes;
    if (!isContent) throw new RangeError(`A content has ${contentDigits} hexadecimal digits.`);
    this.#ids.push(id);
  }

  /** The lines in the order of their bytes, many at a time. */
  *sortedLines(operation: string): Generator<string> {
    const order = this.#order();
    for (let from = 0; from < order.length; from += linesPerUpdate) {
      let lines = '';
      for (const at of order.subarray(from, from + linesPerUpdate))
        lines += `${operation}\t${this.#ids[at]}\t${this.#contentAt(at)}\n`;
      yield lines;
    }
  }

  #order(): Uint32Array {
    // Nearly every comparison is settled by one number a line.
    const keys = new Float64Array(this.count);
    const order = new Uint32Array(this.count);
    for (const [at, id] of this.#ids.entries()) {
      keys[at] = keyOf(id);
      order[at] = at;
    }
    return order.sort(
      (one, other) => (keys[one] as number) - (keys[other] as number) || this.#compare(one, other),
    );
  }

  /** The TAB behind an id sorts before any digit, as the end of a text does. */
  #compare(one: number, other: number): number {
    const [oneId, otherId] = [String(this.#ids[one]), String(this.#ids[other])];
    if (oneId !== otherId) return oneId < otherId ? -1 : 1;
    return this.#contentAt(one) < this.#contentAt(other) ? -1 : 1;
  }

  #contentAt(at: number): string {
    const block = this.#blocks[Math.floor(at / contentsPerBlock)] as Buffer;
    const from = (at % contentsPerBlock) * contentBytes;
    return block.toString('hex', from, from + contentBytes);
  }
}

/** A number that is less for an id whose text sorts before another one's; equal where the texts must be looked at. */
function keyOf(id: number): number {
  const magnitude = Math.abs(id);
  const digits = magnitude < 10 ? 1 : Math.floor(Math.log10(magnitude)) + 1;
  const key = magnitude * 10 ** (idDigitsMax - digits);
  return id < 0 ? key - 10 ** idDigitsMax : key;
}
