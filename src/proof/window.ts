// Of all phases, their words: pages, answers, records and keys. docs/proof.md has the rules, with a picture of windows.

import { leastOf } from '../contract/extremes.ts';
import type { Finding } from './findings.ts';
import {
  type RecordNo,
  type RecordNos,
  type ShownRecords,
  showing,
  type VersionNo,
  type VersionNos,
} from './record-no.ts';

/** Page `index`, from 0, of pages of `size` records: it begins `index × size` records from the front. */
export interface PageAddress {
  readonly index: number;
  readonly size: number;
}

/** Records have the service's id, which is the key; or none, and the key is then a time that can be shared. */
export type Identity = 'id' | 'content';

/** The direction in which the keys of a list rise, or fall. */
export type Direction = 'up' | 'down';

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

/** A page to ask for. */
export interface Ask extends PageAddress {
  /** The size to ask for if it is another one: a service that ignores it answers with its own. Null if it is the page's size. */
  readonly requestedSize: number | null;
  /** True if it is asked for to confirm removals, after all others had arrived, by other addresses. */
  readonly isSecondLook: boolean;
  /** True if by the newest total there is no page at this address. */
  readonly isBeyond: boolean;
}

/** What is wrong with an answer: it is of another size or another page than was asked for, or the page fails for good. */
export interface PageProblem {
  readonly kind: 'size' | 'page' | 'failed';
  readonly finding: Finding;
}

/** One answer of the run. */
export interface Answer extends Ask {
  /** When it was asked for and when it arrived, by one counter of the run. */
  readonly asked: number;
  readonly arrived: number;
  /** The moment that it is of, in milliseconds since 1970: when it was asked for, or earlier if a cache had kept it. */
  readonly at: number;
  /** Whether it was asked for by an earlier run whose reading ended early. It is then older than all others. */
  readonly isRecalled: boolean;
  /** The answer's own `totalRecordCount`. */
  readonly total: number;
  /** The answer's own `pageCount`; null if it was not kept. */
  readonly pageCount: number | null;
  readonly page: PageItems;
  /** Why it says nothing; null if it says something. */
  readonly wrong: PageProblem | null;
  /** If it is several pages as one: the keys, in the order of the list, of which it says something. */
  readonly only?: KeyRange;
  /** The oldest keys of its records that the mirror does not have like this, at most `outliersMax` + 1; the oldest first. */
  readonly oldestNewKeys: readonly number[];
}

/** The place of a page's first record, from 0. */
export const beginOf = ({ index, size }: PageAddress): number => index * size;
/** The place after a full page. */
export const reachOf = ({ index, size }: PageAddress): number => (index + 1) * size;
/** The place after an answer's last record. */
export const endOf = (answer: Answer): number => beginOf(answer) + answer.page.count;
/** Whether two addresses are one. */
export const isAt = (one: PageAddress, other: PageAddress): boolean =>
  one.index === other.index && one.size === other.size;
/** Whether an answer is of this run. */
export const isOfRun = ({ isRecalled }: Pick<Answer, 'isRecalled'>): boolean => !isRecalled;
/** The name of an address. */
export const addressText = ({ index, size }: PageAddress): string => `${index}/${size}`;

/** What was shown at some moments, in the order in which it was asked for. */
export const inTime = <One extends { readonly asked: number }>(all: readonly One[]): One[] =>
  all.toSorted((a, b) => a.asked - b.asked);

/** What was shown at one moment: a page, or records of several pages that count as one. */
export type Shown = Pick<Answer, 'asked' | 'page'>;

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

/** Whether two pages show a record at places further apart than that, so that no page need show all of its identity. */
export function areDuplicatesApart(answers: readonly Answer[], apart: number): boolean {
  const first = new Map<number, readonly [answer: Answer, place: number]>();
  for (const answer of answers)
    for (const [at, record] of answer.page.records.entries()) {
      const place = beginOf(answer) + at;
      const [shownBy, before] = first.get(record) ?? [answer, place];
      if (shownBy !== answer && Math.abs(before - place) > apart) return true;
      first.set(record, [shownBy, before]);
    }
  return false;
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

/** Keys from one to another, in the order of the list: if the keys of a list fall they are negated. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
  /** Whether the keys at the edges belong to it. */
  readonly isFromIn: boolean;
  readonly isToIn: boolean;
}

/** Every key. */
export const allKeys: KeyRange = {
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  isFromIn: true,
  isToIn: true,
};

/** A key in the order of the list, and back. */
export const inOrder = (key: number, direction: Direction): number => (direction === 'up' ? key : -key);

/** Whether a key, in the order of the list, is in a range. */
export function isIn(key: number, { from, to, isFromIn, isToIn }: KeyRange): boolean {
  return (key > from || (isFromIn && key === from)) && (key < to || (isToIn && key === to));
}

/** A range of keys as they are in the records: from the lower to the higher one. */
export function keysOf(range: KeyRange, direction: Direction): KeyRange {
  if (direction === 'up') return range;
  return { from: -range.to, to: -range.from, isFromIn: range.isToIn, isToIn: range.isFromIn };
}
