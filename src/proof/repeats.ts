import { contentBytes, contentText } from '../contract/sum.ts';
import { type Answer, type ItemsOf, rejectedRow } from './answer.ts';
import { allPlaces, partsOf } from './parts.ts';
import type { Places, Strip } from './strip.ts';

/** What stands more than once in a strip. */
export interface Repeats {
  /** True where one content stands on two pages: two duplicates, or one record that an unstable order shows twice. */
  readonly onTwoPages: boolean;
  /** True where it stands on neighbouring pages. */
  readonly onNeighbours: boolean;
  /** An id that stands on two places; null where there is none. */
  readonly id: number | null;
}

/** Finds what stands more than once in a strip; null where a page of it was not read. */
export function findRepeats(strip: Strip, itemsOf: ItemsOf): Repeats | null {
  const suspects = new Suspects(strip.covered);
  const ids = new Set<number>();
  for (const { answer, items } of partsOf(strip, allPlaces(strip))) {
    const read = itemsOf(answer.digest);
    if (read === null) return null;
    for (let at = items.from; at < items.to; at++) {
      const id = read.ids?.[at] ?? Number.NaN;
      // A record that was rejected has no id that could tell it from another.
      if (Number.isNaN(id)) suspects.add(read.contents, at);
      else if (ids.has(id)) return { onTwoPages: true, onNeighbours: false, id };
      else ids.add(id);
    }
  }
  return suspects.size === 0 ? noRepeats : pagesOf(suspects, strip, itemsOf);
}

/**
 * Which page each content was seen on. A page is an answer here, not its number: one that is asked for again while the list moves
 * stands at other places than before.
 */
export class PagesOfContents {
  readonly #pages = new Map<string, Answer>();

  has(content: string): boolean {
    return this.#pages.has(content);
  }

  /** Notes a content on a page; false where it stands on another one, too. */
  add(content: string, page: Answer): boolean {
    const before = this.#pages.get(content);
    this.#pages.set(content, page);
    return before === undefined || before === page;
  }
}

/** Some items of an answer. */
interface ItemsOfAnswer {
  readonly answer: Answer;
  readonly items: Places;
}

/**
 * Whether any of those records that are new to the mirror stands on two pages, or two of them have one id: that is a list that
 * moved, or a duplicate that came just now. Pages that were not read hold nothing new.
 */
export function newRecordsRepeat(parts: Iterable<ItemsOfAnswer>, itemsOf: ItemsOf): boolean {
  const pages = new PagesOfContents();
  const ids = new Set<number>();
  for (const { answer, items } of parts) {
    const read = itemsOf(answer.digest);
    for (let at = items.from; read !== null && at < items.to; at++) {
      if (!Number.isNaN(read.rows[at])) continue;
      const id = read.ids?.[at];
      if (id === undefined ? !pages.add(contentText(read.contents, at), answer) : ids.has(id)) return true;
      if (id !== undefined) ids.add(id);
    }
  }
  return false;
}

/** Whether a rejected content stands on two pages; the pages that hold such are always read. */
export function rejectionsRepeat(strip: Strip, itemsOf: ItemsOf): boolean {
  const pages = new PagesOfContents();
  for (const { answer, items } of partsOf(strip, allPlaces(strip))) {
    const read = answer.rejected === null ? null : itemsOf(answer.digest);
    for (let at = items.from; read !== null && at < items.to; at++) {
      if (read.rows[at] !== rejectedRow) continue;
      if (!pages.add(contentText(read.contents, at), answer)) return true;
    }
  }
  return false;
}

const noRepeats: Repeats = { onTwoPages: false, onNeighbours: false, id: null };

/** Looks at the pages of those contents that may stand more than once. */
function pagesOf(suspects: Suspects, strip: Strip, itemsOf: ItemsOf): Repeats {
  const lastPages = new Map<string, Answer>();
  let onTwoPages = false;
  let onNeighbours = false;
  for (const { answer, items } of partsOf(strip, allPlaces(strip))) {
    const { contents } = itemsOf(answer.digest) as { contents: Buffer };
    for (let at = items.from; at < items.to; at++) {
      const content = suspects.match(contents, at);
      if (content === null) continue;
      const before = lastPages.get(content);
      lastPages.set(content, answer);
      if (before === undefined || before === answer) continue;
      onTwoPages = true;
      onNeighbours ||= Math.abs(before.index - answer.index) <= 1;
    }
  }
  return { onTwoPages, onNeighbours, id: null };
}

const bitsPerContent = 16;
const bitsMax = 2 ** 30;

/**
 * Contents that may have been added before, at two bytes a content: two bits of a table tell most that are new from those that
 * may not be, whose few are then kept whole. Contents are hashes, so any of their bytes serve as places.
 */
class Suspects {
  readonly #bits: Uint32Array;
  readonly #mask: number;
  readonly #contents = new Set<string>();
  /** The first 32 bits of each of them: a content that is none of them is told apart without a text. */
  readonly #starts = new Set<number>();

  constructor(count: number) {
    const wanted = Math.min(bitsMax, Math.max(1024, count * bitsPerContent));
    const bits = 2 ** Math.ceil(Math.log2(wanted));
    this.#bits = new Uint32Array(bits / 32);
    this.#mask = bits - 1;
  }

  get size(): number {
    return this.#contents.size;
  }

  add(contents: Buffer, at: number): void {
    const offset = at * contentBytes;
    const isFirst = this.#set(contents.readUInt32LE(offset));
    const isSecond = this.#set(contents.readUInt32LE(offset + 4));
    if (isFirst || isSecond) return;
    this.#contents.add(contentText(contents, at));
    this.#starts.add(contents.readUInt32LE(offset));
  }

  /** One of the contents as a text, if it is suspected. */
  match(contents: Buffer, at: number): string | null {
    if (!this.#starts.has(contents.readUInt32LE(at * contentBytes))) return null;
    const content = contentText(contents, at);
    return this.#contents.has(content) ? content : null;
  }

  /** Sets a bit; true where it was not set before. */
  #set(hash: number): boolean {
    const bit = (hash & this.#mask) >>> 0;
    const word = this.#bits[bit >>> 5] as number;
    const flag = 1 << (bit & 31);
    this.#bits[bit >>> 5] = word | flag;
    return (word & flag) === 0;
  }
}
