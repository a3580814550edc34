import { contentBytes } from '../../contract/sum.ts';
import type { ListTable, NewRecord } from '../tables/list-table.ts';

/** Finds the rows with the same contents as records. */
export interface RowFinder {
  /** For each record the first row with its content; undefined if there is none. */
  findAll(records: readonly NewRecord[]): (number | undefined)[];
  /** All rows with the content of a record, in the order of their ids. */
  rowsOf(record: NewRecord): Iterator<number, undefined>;
  /** Notes a record that was inserted just now. */
  note(record: NewRecord, row: number): void;
}

/** Finds rows by the table's index. */
export class IndexedRows implements RowFinder {
  readonly #table: ListTable;

  constructor(table: ListTable) {
    this.#table = table;
  }

  findAll(records: readonly NewRecord[]): (number | undefined)[] {
    return this.#table.findAll(records);
  }

  *rowsOf(record: NewRecord): Generator<number, undefined> {
    const first = this.#table.find(record);
    if (first === undefined) return undefined;
    yield first;
    for (let rows = this.#table.findAfter(record, first); rows.length > 0; ) {
      yield* rows;
      rows = this.#table.findAfter(record, rows.at(-1) as number);
    }
    return undefined;
  }

  note(): void {}
}

const slotsAtFirst = 1024;
const rowsAtFirst = 512;
/** The largest part of the table that is filled. */
const loadMax = 0.5;

/**
 * Finds rows of a list that was empty, while its indexes are left out. A hash table of about 25 bytes a row takes a fifth of the
 * time of an index.
 */
export class FreshRows implements RowFinder {
  /** The number of the first row with each content. */
  #slots = new Int32Array(slotsAtFirst).fill(-1);
  #contents = new Uint8Array(rowsAtFirst * contentBytes);
  #count = 0;
  /** Rows of an empty list get consecutive ids, because nobody else writes. */
  #firstRow = 0;
  /** The other rows with the content of a row, by the number of the first. */
  readonly #others = new Map<number, number[]>();

  findAll(records: readonly NewRecord[]): (number | undefined)[] {
    return records.map(({ content }) => {
      const number = this.#slots[this.#slotOf(content, 0)] as number;
      return number < 0 ? undefined : this.#firstRow + number;
    });
  }

  *rowsOf({ content }: NewRecord): Generator<number, undefined> {
    const number = this.#slots[this.#slotOf(content, 0)] as number;
    if (number < 0) return undefined;
    yield this.#firstRow + number;
    for (const other of this.#others.get(number) ?? []) yield this.#firstRow + other;
    return undefined;
  }

  note({ content }: NewRecord, row: number): void {
    if (this.#count === 0) this.#firstRow = row;
    if (row !== this.#firstRow + this.#count) throw new Error(`Row ${row} does not follow the one before.`);
    if (this.#count >= this.#slots.length * loadMax) this.#growSlots();
    if ((this.#count + 1) * contentBytes > this.#contents.length) this.#growContents();
    const number = this.#count++;
    this.#contents.set(content, number * contentBytes);
    const slot = this.#slotOf(content, 0);
    const first = this.#slots[slot] as number;
    if (first < 0) {
      this.#slots[slot] = number;
      return;
    }
    const others = this.#others.get(first);
    if (others === undefined) this.#others.set(first, [number]);
    else others.push(number);
  }

  /** The slot of a content, or the free slot where it belongs. */
  #slotOf(contents: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1;
    let slot = wordOf(contents, offset) & mask;
    for (let number = this.#slots[slot] as number; number >= 0; number = this.#slots[slot] as number) {
      if (this.#isContent(number, contents, offset)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isContent(number: number, contents: Uint8Array, offset: number): boolean {
    const from = number * contentBytes;
    for (let byte = 0; byte < contentBytes; byte++)
      if (this.#contents[from + byte] !== contents[offset + byte]) return false;
    return true;
  }

  #growSlots(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(before.length * 2).fill(-1);
    for (const number of before)
      if (number >= 0) this.#slots[this.#slotOf(this.#contents, number * contentBytes)] = number;
  }

  #growContents(): void {
    const contents = new Uint8Array(this.#contents.length * 2);
    contents.set(this.#contents);
    this.#contents = contents;
  }
}

/** The first four bytes of a content, which is a hash already. */
function wordOf(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset] as number) |
    ((bytes[offset + 1] as number) << 8) |
    ((bytes[offset + 2] as number) << 16) |
    ((bytes[offset + 3] as number) << 24)
  );
}
