import type { RecordValues } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { identityOf, type MirrorRecord } from '../../contract/record.ts';
import { contentBytes, writeHash16 } from '../../contract/sum.ts';
import { BitSet, InternTable, withRoom } from './compact-sets.ts';

/** Which records that have no id and no row are of one identity. Most times come once: of these no identity is made. */
export class NewIdentities {
  readonly #list: ListDefinition;
  readonly texts: InternTable;
  readonly #valuesOf: (text: number) => RecordValues;
  /** All times, and by the number of a time the first text that has it. */
  readonly #times = new InternTable(undefined, Float64Array.BYTES_PER_ELEMENT);
  #firstOfTime = new Int32Array(0);
  /** The times of several texts, the identities of these, and by the number of an identity its first text. */
  readonly #shared = new BitSet();
  readonly #identities = new InternTable();
  #firstOfIdentity = new Int32Array(0);
  readonly #time = new Float64Array(1);
  readonly #timeBytes = new Uint8Array(this.#time.buffer);
  readonly #hash = Buffer.alloc(contentBytes);

  /** @param texts numbers the contents of all versions of the run; `valuesOf` reads those of a text that was the first of its identity. */
  constructor(list: ListDefinition, texts: InternTable, valuesOf: (text: number) => RecordValues) {
    [this.#list, this.texts, this.#valuesOf] = [list, texts, valuesOf];
  }

  /** The number of the first text of a record's identity, which can be its own. */
  firstTextOf(each: MirrorRecord): number {
    const { key, contents, offset } = each;
    this.#time[0] = key;
    const time = this.#times.numberOf(this.#timeBytes);
    this.#firstOfTime = withRoom(this.#firstOfTime, time + 1);
    const first = this.#firstOfTime[time] as number;
    if (first === 0) {
      const text = this.texts.numberOf(contents, offset);
      this.#firstOfTime[time] = text;
      return text;
    }
    if (this.texts.find(contents, offset) === first) return first;
    // Of the time's first text the identity was not made until now.
    if (this.#shared.add(time)) this.#firstWith(this.#valuesOf(first), () => first);
    return this.#firstWith(each, () => this.texts.numberOf(contents, offset));
  }

  /** The first text of an identity; for a new one that of these values. */
  #firstWith(values: RecordValues, textOf: () => number): number {
    writeHash16(identityOf(this.#list, values), this.#hash, 0);
    const identity = this.#identities.numberOf(this.#hash);
    this.#firstOfIdentity = withRoom(this.#firstOfIdentity, identity + 1);
    this.#firstOfIdentity[identity] ||= textOf();
    return this.#firstOfIdentity[identity] as number;
  }
}
