// Of all phases, their words: the numbers of records and of their versions, the records of a page, and what several pages show of them. Only
// this file says how the numbers are made.

import { leastOf } from '../contract/extremes.ts';
import { type Direction, type Identity, inOrder } from './keys.ts';

declare const recordBrand: unique symbol;
declare const versionBrand: unique symbol;

/** The number of a record: the same wherever it is shown, whatever its text is. Records of one identity have one number. */
export type RecordNo = number & { readonly [recordBrand]: true };

/** The record with an id. */
export const ofId = (id: number) => id as RecordNo;
/** The records of an identity, of which this is the first row. */
export const ofRow = (row: number) => row as RecordNo;
/** The records of an identity that has no row; `text` is the number of its first text among all texts of the run, from 1. */
export const ofNew = (text: number) => -text as RecordNo;
/** A record without an id that can't be read; `count` is its number among these, from 1. No id and no row is half a number. */
export const ofRejected = (count: number) => (count - 0.5) as RecordNo;
/** Whether records without ids have a row: their number is then that of their first one. */
export const isOfRow = (no: RecordNo): boolean => no > 0 && Number.isInteger(no);

/** The number of a version of a record. */
export type VersionNo = number & { readonly [versionBrand]: true };

/** The version of a record that has one row, if it is shown as that row is. */
export const asItsRow = 0 as VersionNo;
/** The version of a record that can't be read. */
export const unreadable = -1 as VersionNo;
/** Any other version; `count` is the number of its text among all texts of the run, from 1. */
export const ofText = (count: number) => count as VersionNo;

/** The numbers of the records on a page, in 8 bytes each. */
export interface RecordNos extends Float64Array<ArrayBuffer> {
  [at: number]: RecordNo;
  [Symbol.iterator](): ArrayIterator<RecordNo>;
  entries(): ArrayIterator<[number, RecordNo]>;
}

/** The numbers of their versions, in 4 bytes each. */
export interface VersionNos extends Int32Array<ArrayBuffer> {
  [at: number]: VersionNo;
}

/** What a page shows: for each place the number of its record, and that of its version. */
export interface ShownRecords {
  readonly records: RecordNos;
  readonly versions: VersionNos;
}

/** Room for the records of a page; each has the version `asItsRow`. */
export function roomFor(count: number): ShownRecords {
  return { records: new Float64Array(count) as RecordNos, versions: new Int32Array(count) as VersionNos };
}

/** The records of a page. */
export function showing(
  shown: readonly { readonly record: RecordNo; readonly version?: VersionNo }[],
): ShownRecords {
  const room = roomFor(shown.length);
  for (const [at, { record, version = asItsRow }] of shown.entries()) {
    room.records[at] = record;
    room.versions[at] = version;
  }
  return room;
}

/** A page's items as the proof needs them: 20 bytes each. A page that comes again is the same object. */
export class PageItems implements ShownRecords {
  readonly digest: string;
  /** The id, or the instant in milliseconds; NaN if an item has none that can be read. */
  readonly keys: Float64Array;
  readonly records: RecordNos;
  readonly versions: VersionNos;
  readonly least: number;
  readonly greatest: number;
  readonly keyless: number;
  /** Whether an id is on the page twice: then the list contradicts itself. */
  readonly isIdTwice: boolean;
  readonly #lateness: Record<Direction, number[]>;

  constructor(digest: string, keys: Float64Array, { records, versions }: ShownRecords, identity: Identity) {
    this.digest = digest;
    this.keys = keys;
    this.records = records;
    this.versions = versions;
    let [up, down, keyless, isTwice] = [0, 0, 0, false];
    let [least, greatest, before] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
    for (const key of keys) {
      if (Number.isNaN(key)) {
        keyless++;
        continue;
      }
      isTwice ||= key === before;
      before = key;
      up = Math.max(up, greatest - key);
      down = Math.max(down, key - least);
      least = Math.min(least, key);
      greatest = Math.max(greatest, key);
    }
    const isSorted = up === 0 || down === 0;
    if (identity === 'id' && !isSorted)
      isTwice ||= new Set(keys.filter(key => !Number.isNaN(key))).size < keys.length - keyless;
    this.isIdTwice = identity === 'id' && isTwice; // guard: an id twice
    this.#lateness = this.isIdTwice ? { up: [never], down: [never] } : { up: [up], down: [down] };
    this.least = least;
    this.greatest = greatest;
    this.keyless = keyless;
  }

  get count(): number {
    return this.keys.length;
  }

  /** How far a key is behind the key of a record before it, without so many outliers; infinite if that can't be said. */
  lateness(direction: Direction, outliers: number): number {
    const left = outliers - this.keyless;
    if (left < 0) return never; // guard: records without a key are outliers
    const known = this.#lateness[direction];
    const all = known[0] as number;
    if (left === 0 || all === 0 || all === never) return all;
    known[left] ??= latenessOf(
      Array.from(this.keys, key => inOrder(key, direction)).filter(key => !Number.isNaN(key)),
      left,
    );
    return known[left];
  }

  /** The least and the greatest key, in the order of the list, that so many outliers can't have. */
  edges(direction: Direction, outliers: number): readonly [number, number] {
    const left = outliers - this.keyless;
    let [low, high] = [this.least, this.greatest];
    if (left > 0) {
      const sorted = this.keys.filter(key => !Number.isNaN(key)).sort();
      low = sorted[left] ?? Number.POSITIVE_INFINITY;
      high = sorted[sorted.length - 1 - left] ?? Number.NEGATIVE_INFINITY;
    }
    return direction === 'up' ? [low, high] : [-high, -low];
  }
}

const never = Number.POSITIVE_INFINITY;

/** The lateness of keys without the outliers that make it longest: of the pair that is furthest apart, one must be an outlier. */
function latenessOf(keys: readonly number[], outliers: number): number {
  let [lateness, greatest] = [0, 0];
  let pair: number[] = [];
  for (const [at, key] of keys.entries()) {
    const before = keys[greatest] as number;
    if (before - key > lateness) [lateness, pair] = [before - key, [greatest, at]];
    if (key > before) greatest = at;
  }
  if (outliers === 0 || lateness === 0) return lateness;
  return leastOf(pair.map(at => latenessOf(keys.toSpliced(at, 1), outliers - 1)));
}

interface PageItem {
  readonly page: PageItems;
  readonly at: number;
}

/** The items of pages, in their order. */
export function itemsOf(pages: readonly PageItems[]): PageItem[] {
  return pages.flatMap(page => Array.from(page.keys, (_, at) => ({ page, at })));
}

/** Some items of several pages as one page. */
export function mergePages(items: readonly PageItem[], identity: Identity): PageItems {
  const keys = Float64Array.from(items, ({ page, at }) => page.keys[at] as number);
  const shown = items.map(({ page: { records, versions }, at }) => ({
    record: records[at] as RecordNo,
    version: versions[at] as VersionNo,
  }));
  return new PageItems('', keys, showing(shown), identity);
}

/** Whether two readings show the same records, each as often. Their texts can differ: an edit moves no record. */
export function areSameRecords(a: readonly PageItems[], b: readonly PageItems[]): boolean {
  const [one, other] = [a, b].map(pages =>
    Float64Array.from(pages.flatMap(({ records }) => [...records])).sort(),
  );
  return one?.length === other?.length && one?.every((record, at) => record === other?.[at]) === true;
}

/** How often one of some pages shows each record, at most. */
export function mostOf(pages: readonly PageItems[]): Map<number, number> {
  const most = new Map<number, number>();
  for (const page of pages)
    for (const [record, count] of countsOf([page])) most.set(record, Math.max(count, most.get(record) ?? 0));
  return most;
}

/** How often pages show each of their records. */
export function countsOf(pages: readonly PageItems[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { records } of pages)
    for (const record of records) counts.set(record, (counts.get(record) ?? 0) + 1);
  return counts;
}
