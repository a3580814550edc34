import { contentText, hash16, Sum } from '../../src/contract/sum.ts';
import {
  type Answer,
  type Counting,
  type ItemsOf,
  type ReadItems,
  rejectedRow,
} from '../../src/proof/answer.ts';
import { type FinishedWalk, finishWalk } from '../../src/proof/finished-walk.ts';
import { allPlaces, partsOf } from '../../src/proof/parts.ts';
import type { Standing } from '../../src/proof/standing.ts';
import { type Laid, layStrip, type Strip } from '../../src/proof/strip.ts';
import { WalkAccount } from '../../src/proof/walk-account.ts';

// Lists for the eye: a letter is a record, and a text a page or a list of them.

/** The content of a record that is written as a letter, or any text. */
export function contentOf(label: string): Buffer {
  return hash16(label);
}

/** The sum over records. */
export function sumOf(labels: Iterable<string>): Sum {
  const sum = new Sum();
  for (const label of labels) sum.add(contentOf(label));
  return sum;
}

/** A list cut into pages of a size. */
export function cut(list: readonly string[] | string, size: number): string[][] {
  const pages: string[][] = [];
  for (let at = 0; at < list.length; at += size) pages.push([...list.slice(at, at + size)]);
  return pages;
}

interface PagesOptions {
  readonly known?: Iterable<string>;
  readonly rejected?: Iterable<string>;
  readonly hasIds?: boolean;
}

/** The pages that were read of a list. */
export class Pages {
  readonly #read = new Map<string, ReadItems>();
  readonly #labels = new Map<string, string>();
  readonly #known: ReadonlySet<string>;
  readonly #hasIds: boolean;
  readonly #rejected: ReadonlySet<string>;

  /**
   * @param known the records that the mirror holds.
   * @param rejected the records that can't be read.
   */
  constructor({ known = '', rejected = '', hasIds = false }: PagesOptions = {}) {
    this.#known = new Set(known);
    this.#rejected = new Set(rejected);
    this.#hasIds = hasIds;
  }

  readonly itemsOf: ItemsOf = digest => this.#read.get(digest) ?? null;

  /** An answer whose items were read; in a list with ids a record's id is the number of its letter. */
  answer(index: number, total: number, labels: Iterable<string>): Answer {
    const answer = this.unread(index, total, labels);
    const all = [...labels];
    this.#read.set(answer.digest, {
      contents: Buffer.concat(all.map(contentOf)),
      ids: this.#hasIds ? Float64Array.from(all, label => this.#idOf(label)) : null,
      rows: Float64Array.from(all, (label, at) => this.#rowOf(label, at)),
    });
    const rejected = all.filter(label => this.#rejected.has(label));
    return { ...answer, rejected: rejected.length === 0 ? null : sumOf(rejected) };
  }

  #idOf(label: string): number {
    return this.#rejected.has(label) ? Number.NaN : label.toLowerCase().charCodeAt(0);
  }

  #rowOf(label: string, at: number): number {
    if (this.#rejected.has(label)) return rejectedRow;
    return this.#known.has(label) ? at + 1 : Number.NaN;
  }

  /** An answer that is known by its digest, and was not read. */
  unread(index: number, total: number, labels: Iterable<string>): Answer {
    const all = [...labels];
    for (const label of all) this.#labels.set(contentText(contentOf(label), 0), label);
    const digest = hash16(JSON.stringify(all)).toString('hex');
    return { index, total, count: all.length, digest, sum: sumOf(all), rejected: null };
  }

  /** The answers of a reading of a list that stood still. */
  still(list: readonly string[] | string, size: number): Answer[] {
    return cut(list, size).map((labels, index) => this.answer(index, list.length, labels));
  }

  lay(answers: readonly Answer[], size: number, required: number, learnt: Counting | null = null): Laid {
    return layStrip(answers, size, required, learnt, this.itemsOf);
  }

  /** The strip of answers that can be laid. */
  strip(
    answers: readonly Answer[],
    size: number,
    required = answers[0]?.total ?? 0,
    learnt: Counting | null = null,
  ): Strip {
    const laid = this.lay(answers, size, required, learnt);
    if (laid.kind !== 'strip') throw new Error(`The answers can't be laid: ${laid.kind}.`);
    return laid.strip;
  }

  /** The records of a strip, in the order of their places. */
  labelsOf(strip: Strip): string[] {
    const labels: string[] = [];
    for (const part of partsOf(strip, allPlaces(strip))) {
      const { contents } = this.itemsOf(part.answer.digest) as ReadItems;
      for (let item = part.items.from; item < part.items.to; item++)
        labels[part.placeOf(item)] = this.#labels.get(contentText(contents, item)) as string;
    }
    return labels;
  }

  /** A walk over a list that stood still and says so truly. */
  walk(list: readonly string[] | string, size: number, isTrusting = false): FinishedWalk {
    return this.walkOver(cut(list, size), size, list.length, isTrusting);
  }

  /**
   * A walk that is answered with these pages, whatever is true, and with none after them.
   *
   * @param unread the pages, from 0, that are known and not read.
   * @param astray the page, from 0, whose answer says that it is the first one.
   */
  walkOver(
    pages: readonly (readonly string[])[],
    size: number,
    total: number,
    isTrusting = false,
    unread: readonly number[] = [],
    astray: number | null = null,
  ): FinishedWalk {
    const envelope = { firstPageNo: 1, pageSize: size, pageCount: pages.length, totalRecordCount: total };
    const account = new WalkAccount(envelope, null, this.itemsOf);
    for (let asked = account.askedFirst(); ; ) {
      const labels = pages[asked.index] ?? [];
      const answer = unread.includes(asked.index)
        ? this.unread(asked.index, total, labels)
        : this.answer(asked.index, total, labels);
      const pageNo = asked.index === astray ? 1 : asked.index + 1;
      const place = account.place(asked, { ...answer, pageNo, pageCount: pages.length });
      if (place.kind === 'page') account.enter({ ...answer, index: place.index });
      const next = account.next();
      if (next === null) return finishWalk(account, { isTrusting, isTakenUp: false }, this.itemsOf, []);
      asked = next;
    }
  }
}

/** A mirror that counts as a reading and holds these records. */
export function standing(list: Iterable<string>, over: Partial<Standing> = {}): Standing {
  const usual = { mayRepeat: false, counting: null, hasOnlyGrown: true, pageDigests: null, settledCount: 0 };
  return { sum: sumOf(list), isReading: true, ...usual, ...over };
}

/** A mirror that proves nothing. */
export const noStanding: Standing = standing('', { isReading: false });
