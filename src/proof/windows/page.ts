import { contentBytes, Sum } from '../../contract/sum.ts';

/**
 * The address of a page: page `index`, from 0, of pages of `size` records. It begins `index × size` records from the
 * front.
 */
export interface PageAddress {
  readonly index: number;
  readonly size: number;
}

/**
 * How two items are known to be the same record. With `id` it is the service's id, which is also the key and unique.
 * With `content` it is the content, and the key is a time that several records can share.
 */
export type Identity = 'id' | 'content';

/** Some items of a page, in their order. */
export interface PageItems {
  /** The id, or the instant in milliseconds; NaN if an item has none that can be read. */
  readonly keys: Float64Array;
  /** 16 bytes an item. */
  readonly contents: Uint8Array;
}

/**
 * A summary of a page, some 500 bytes whatever the page's size. It can be kept for the next run, under the page's
 * digest.
 */
export interface PageSummary {
  readonly digest: string;
  readonly count: number;
  /** NaN if the page has no items. */
  readonly firstKey: number;
  readonly lastKey: number;
  /**
   * Whether the keys rise, or fall, all along the page. Times can be equal, ids can't. Without a key, neither is true.
   */
  readonly isUp: boolean;
  readonly isDown: boolean;
  /** Whether an id is on the page twice: then the list contradicts itself. */
  readonly isIdTwice: boolean;
  /** The first and the last items, `edgeItems` at most. */
  readonly head: PageItems;
  readonly tail: PageItems;
  readonly sum: Sum;
}

/** One answer of the run. */
export interface PageAnswer extends PageAddress {
  /**
   * When it was asked for and when it arrived, by one counter of the run. An answer is later than another if it was
   * asked for after that one arrived.
   */
  readonly asked: number;
  readonly arrived: number;
  /** The answer's own `totalRecordCount`. */
  readonly total: number;
  /**
   * True if it was asked for to confirm removals, after all others had arrived, at an address that no cache can have
   * kept.
   */
  readonly isSecondLook: boolean;
  /** 1 if it belongs to the second reading of a list without a visible key, else 0. */
  readonly reading: number;
  readonly summary: PageSummary;
}

/** The items of an answer; null if the page was known by its digest and therefore not read. */
export type ItemsOf = (answer: PageAnswer) => PageItems | null;

/** The most records that neighbouring pages of a plan have in common. */
const edgeItems = 10;

/** How many records of the list come before an answer's first one, by its address. */
export function beginOf({ index, size }: PageAddress): number {
  return index * size;
}

/** An address as a text that can be a key of a map. */
export function addressText({ index, size }: PageAddress): string {
  return `${index}/${size}`;
}

/** Whether an answer is later than another: it was asked for after that one had arrived. */
export function isLater(answer: PageAnswer, other: PageAnswer): boolean {
  return answer.asked > other.arrived;
}

/** Whether an item of a page is the same record as one of another page. */
export function isSameRecord(
  a: PageItems,
  atA: number,
  b: PageItems,
  atB: number,
  identity: Identity,
): boolean {
  if (identity === 'id') return a.keys[atA] === b.keys[atB];
  for (let byte = 0; byte < contentBytes; byte++) {
    if (a.contents[atA * contentBytes + byte] !== b.contents[atB * contentBytes + byte]) return false;
  }
  return true;
}

/** Summarises a page that was read. */
export function summaryOf(items: PageItems, digest: string, identity: Identity): PageSummary {
  const { keys, contents } = items;
  const count = keys.length;
  const firstKey = keys[0] ?? Number.NaN;
  const lastKey = keys[count - 1] ?? Number.NaN;
  const edge = Math.min(count, edgeItems);
  return {
    digest,
    count,
    firstKey,
    lastKey,
    ...orderOfKeys(keys, identity),
    isIdTwice: identity === 'id' && hasTwice(keys),
    head: cut(items, 0, edge),
    tail: cut(items, count - edge, count),
    sum: Sum.of(contents),
  };
}

function orderOfKeys(keys: Float64Array, identity: Identity): Pick<PageSummary, 'isUp' | 'isDown'> {
  let isUp = true;
  let isDown = true;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as number;
    if (Number.isNaN(key)) return { isUp: false, isDown: false };
    const before = keys[at - 1];
    if (before === undefined) continue;
    const isTwice = key === before && identity === 'id'; // guard: no id twice on a page
    if (key < before || isTwice) isUp = false;
    if (key > before || isTwice) isDown = false;
  }
  return { isUp, isDown };
}

function hasTwice(keys: Float64Array): boolean {
  const ids = keys.filter(key => !Number.isNaN(key));
  return new Set(ids).size < ids.length; // guard: an id twice
}

function cut({ keys, contents }: PageItems, from: number, to: number): PageItems {
  return { keys: keys.slice(from, to), contents: contents.slice(from * contentBytes, to * contentBytes) };
}
