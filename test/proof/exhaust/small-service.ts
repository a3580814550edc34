import type { PageAddress } from '../../../src/proof/answers.ts';
import type { Choices } from './choices.ts';
import type { Served } from './night.ts';
import type { WorldRecord } from './records.ts';

/**
 * What a service leaves out of its pages.
 *
 * - `filter`: one record, after the page was cut.
 * - `cut sizes`: it serves two records at most.
 * - `byte cap`: some records are twice as long, and a page ends before the one that is too much for it.
 * - `empty beyond`: it serves two pages of each size.
 * - `window`: a page that reaches beyond the fourth record is empty, but not the first one.
 * - `whole pages`: it has as many pages as its total fills, but at least one.
 * - `cut at its count`: it counts with one statement, and reads a page up to that count with another one.
 * - `rows of ids`: it chooses the ids of a page with one statement, and reads their rows with another one. It counts only if that page is full or empty.
 * - `orphans`: its last page also has the record that would be alone on the next one.
 */
export type SmallQuirk =
  | 'none'
  | 'filter'
  | 'cut sizes'
  | 'byte cap'
  | 'empty beyond'
  | 'window'
  | 'last page again'
  | 'last page missing'
  | 'whole pages'
  | 'unstable ties'
  | 'cut at its count'
  | 'rows of ids'
  | 'orphans';

/**
 * What a service says of the number of its records.
 *
 * - `visible`: without those that it leaves out.
 * - `cached`: a number of before, one less or one more as well; any answer can be the first with the number of now.
 * - `deduced`: of a page that is not full, the place where it ends; else the right one.
 */
export type SmallTotal = 'right' | 'visible' | 'none' | 'one less' | 'one more' | 'cached' | 'deduced';

/** How a small service serves its list. */
export interface ServiceOptions {
  readonly quirk: SmallQuirk;
  /** The right one if it is left out. */
  readonly total?: SmallTotal;
}

const windowSize = 4;
const pagesMax = 2;
const cutSize = 2;
/** A page has so many units of length; see `lengthOf`. */
const lengthMax = 3;

const lengthOf = ({ content }: WorldRecord): number => (content % 3 === 0 ? 2 : 1);

/** A service with habits of its own, in front of a list. */
export class SmallService {
  readonly #options: ServiceOptions;
  readonly #choices: Choices;
  /** The content of the record that it never shows. */
  readonly #hidden: number;
  /** The total that it keeps. */
  #kept: number;

  constructor(options: ServiceOptions, list: readonly WorldRecord[], choices: Choices) {
    this.#options = options;
    this.#choices = choices;
    const hidden =
      options.quirk === 'filter' && list.length > 0 ? list[choices.next(list.length)] : undefined;
    this.#hidden = hidden?.content ?? -1;
    this.#kept = list.length;
    if (options.total === 'cached') this.#kept += list.length > 0 ? choices.next(3) - 1 : 0;
  }

  /**
   * Whether a page was cut where a total ended that is too small, or is empty behind that. It fits its total, so nothing tells it from the
   * end of the list: this is a known limit of the proof, and no claim is judged.
   */
  hasCutAtTotal = false;

  readonly isVisible = ({ content }: WorldRecord): boolean => content !== this.#hidden;

  /** @param before the list at the moment of the first of two statements, for a service that needs two. */
  serve(list: readonly WorldRecord[], page: PageAddress, before: readonly WorldRecord[]): Served {
    const { records, total } = this.#pageOf(list, page, before);
    // What is left out of pages has been cut into pages all the same.
    const counted = this.#options.quirk === 'filter' ? Math.max(total, list.length) : total;
    return { records, total, pageCount: Math.ceil(counted / page.size) };
  }

  #pageOf(
    list: readonly WorldRecord[],
    page: PageAddress,
    before: readonly WorldRecord[],
  ): Omit<Served, 'pageCount'> {
    const { quirk, total: kind = 'right' } = this.#options;
    if (quirk === 'cut at its count')
      return { records: cutOf(list.slice(0, before.length), page), total: before.length };
    if (quirk === 'rows of ids') {
      const left = [...list];
      const rows = cutOf(before, page).flatMap(({ id }) => {
        const at = left.findIndex(record => record.id === id);
        return at < 0 ? [] : left.splice(at, 1);
      });
      return withDeducedTotal(rows, page, list);
    }
    const total = this.#totalOf(list);
    const records = this.#cut(list, page, total);
    if (kind === 'deduced') return withDeducedTotal(records, page, list);
    const isEnd = records.length < page.size && page.index * page.size + records.length === total;
    this.hasCutAtTotal ||= isEnd && total < list.length && kind !== 'visible';
    return { records, total };
  }

  /** Whether the service reads a page with two statements, between which the list can change. */
  get hasTwoStatements(): boolean {
    return this.#options.quirk === 'cut at its count' || this.#options.quirk === 'rows of ids';
  }

  #totalOf(list: readonly WorldRecord[]): number {
    switch (this.#options.total) {
      case 'visible':
        return list.filter(this.isVisible).length;
      case 'none':
        return 0;
      case 'one less':
        return Math.max(0, list.length - 1);
      case 'one more':
        return list.length + 1;
      case 'cached':
        if (this.#kept !== list.length && this.#choices.next(2) === 1) this.#kept = list.length;
        return this.#kept;
      default:
        return list.length;
    }
  }

  /** @param total the one that it states. */
  #cut(list: readonly WorldRecord[], { index, size }: PageAddress, total: number): readonly WorldRecord[] {
    const cut = (asked: number, page: number) => list.slice(page * asked, (page + 1) * asked);
    const last = Math.max(0, Math.ceil(list.length / size) - 1);
    switch (this.#options.quirk) {
      case 'filter':
        return cut(size, index).filter(this.isVisible);
      case 'cut sizes':
        return cut(Math.min(size, cutSize), index);
      case 'byte cap': {
        let left = lengthMax;
        return cut(size, index).filter(record => {
          left -= lengthOf(record);
          return left >= 0;
        });
      }
      case 'empty beyond':
        return index < pagesMax ? cut(size, index) : [];
      case 'window':
        return index === 0 || (index + 1) * size <= windowSize ? cut(size, index) : [];
      case 'last page again':
        return cut(size, Math.min(index, last));
      case 'last page missing':
        return index > 0 && index >= last ? [] : cut(size, index);
      case 'whole pages':
        return index === 0 || index < Math.floor(total / size) ? cut(size, index) : [];
      case 'orphans': {
        const pages = Math.max(1, Math.ceil((list.length - 1) / size));
        if (index >= pages) return [];
        return index === pages - 1 ? list.slice(index * size) : cut(size, index);
      }
      case 'unstable ties':
        return this.#shuffled(list).slice(index * size, (index + 1) * size);
      default:
        return cut(size, index);
    }
  }

  /** Records with the numbers 1 to 3, and those from 4 to 6, share what the list is ordered by. */
  #shuffled(list: readonly WorldRecord[]): WorldRecord[] {
    const shuffled = [...list];
    const groupOf = (record?: WorldRecord) =>
      record === undefined || record.content > 6 ? -1 : Math.ceil(record.content / 3);
    for (let round = 0; round < 2; round++)
      for (let at = 1; at < shuffled.length; at++)
        if (
          groupOf(shuffled[at]) > 0 &&
          groupOf(shuffled[at]) === groupOf(shuffled[at - 1]) &&
          this.#choices.next(2) === 1
        )
          shuffled.splice(at - 1, 2, shuffled[at] as WorldRecord, shuffled[at - 1] as WorldRecord);
    return shuffled;
  }
}

const cutOf = (list: readonly WorldRecord[], { index, size }: PageAddress) =>
  list.slice(index * size, (index + 1) * size);

function withDeducedTotal(
  records: readonly WorldRecord[],
  { index, size }: PageAddress,
  list: readonly WorldRecord[],
): Omit<Served, 'pageCount'> {
  const isShort = records.length > 0 && records.length < size;
  return { records, total: isShort ? index * size + records.length : list.length };
}
