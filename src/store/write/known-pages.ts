import type { ListDefinition } from '../../contract/lists.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { sumSpokenOf } from '../../proof/windows/known-page.ts';
import type { Direction, LearntOrder } from '../../proof/windows/order.ts';
import type { PageAnswer, PageSummary } from '../../proof/windows/page.ts';
import { isIn, type KeyRange, keysOf, windowOf } from '../../proof/windows/window.ts';
import type { ListTable } from '../tables/list-table.ts';
import type { KnownPage } from './list-memory.ts';

/** How many earlier ranges are checked, because ranges can overlap. */
const neighboursMax = 6;

/** Ranges of keys, in which keys can be found. */
export class KeyRanges {
  readonly #sorted: readonly KeyRange[];

  constructor(ranges: readonly KeyRange[]) {
    this.#sorted = ranges.toSorted((a, b) => a.from - b.from || a.to - b.to);
  }

  /** Visits the ranges that include a key, by their place among the sorted ranges. */
  forEachAt(key: number, visit: (place: number) => void): void {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] as KeyRange).from <= key) low = middle + 1;
      else high = middle;
    }
    for (let place = low - 1; place >= Math.max(0, low - neighboursMax); place--)
      if (isIn(key, this.#sorted[place] as KeyRange)) visit(place);
  }

  has(key: number): boolean {
    let isFound = false;
    this.forEachAt(key, () => {
      isFound = true;
    });
    return isFound;
  }

  get sorted(): readonly KeyRange[] {
    return this.#sorted;
  }
}

interface Known {
  readonly summary: PageSummary;
  readonly range: KeyRange;
}

/**
 * The pages of the last proven full sync that are still valid: the mirror's rows in a page's window have the sum of the page. If a
 * known page comes again, byte for byte, its rows count as shown, and it needs no parsing.
 */
export class KnownPages {
  readonly #pages = new Map<string, Known>();
  readonly #met = new Set<Known>();
  #ranges: KeyRanges | null = null;
  /** Rows that are in no known page's window. */
  readonly #uncovered: { readonly id: number; readonly key: number }[] = [];
  readonly #spans = new Map<Known, { from: number; to: number }>();

  /** Reads all rows of the list once, if there are known pages: 1 µs each. */
  constructor(table: ListTable, pages: readonly KnownPage[], order: LearntOrder) {
    if (order !== 'up' && order !== 'down') return;
    const known = pages.flatMap(page => knownOf(table.list, page, order) ?? []);
    if (known.length === 0) return;
    const ranges = new KeyRanges(known.map(({ range }) => range));
    const places = new Map(known.map(each => [each.range, each]));
    const sums = ranges.sorted.map(() => new Sum());
    const spans = ranges.sorted.map(() => ({ from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY }));
    const bytes = Buffer.alloc(contentBytes);
    for (const { id, key, content } of table.keysAndContents()) {
      bytes.write(content, 'hex');
      let isCovered = false;
      ranges.forEachAt(key, place => {
        isCovered = true;
        (sums[place] as Sum).add(bytes);
        const span = spans[place] as { from: number; to: number };
        if (id < span.from) span.from = id;
        if (id > span.to) span.to = id;
      });
      if (!isCovered) this.#uncovered.push({ id, key });
    }
    for (const [place, range] of ranges.sorted.entries()) {
      const each = places.get(range) as Known & { sum: Sum };
      this.#spans.set(each, spans[place] as { from: number; to: number });
      if (sums[place]?.equals(each.sum)) this.#pages.set(each.summary.digest, each); // guard: sums of known pages
    }
  }

  /** The rows that the known pages of this run might not show: those of other pages, and those of no page. */
  *othersIn(table: ListTable): Generator<{ readonly id: number; readonly key: number }> {
    const spans = [...this.#spans].filter(([known]) => !this.#met.has(known)).map(([, span]) => span);
    spans.sort((a, b) => a.from - b.from);
    let after = Number.NEGATIVE_INFINITY;
    for (const { from, to } of spans) {
      if (to > after) yield* table.keysBetween(Math.max(from, after + 1), to);
      after = Math.max(after, to);
    }
    for (const row of this.#uncovered) if (table.has(row.id)) yield row;
  }

  has(digest: string): boolean {
    return this.#pages.has(digest);
  }

  /** Marks a page as come again, and returns its summary. */
  take(digest: string): PageSummary {
    const page = this.#pages.get(digest) as Known;
    this.#met.add(page);
    this.#ranges = null;
    return page.summary;
  }

  /** Whether a known page of this run shows the row with a key. */
  show(key: number): boolean {
    if (this.#met.size === 0) return false;
    this.#ranges ??= new KeyRanges(Array.from(this.#met, ({ range }) => range));
    return this.#ranges.has(key);
  }

  /** Whether any known page came again. */
  get areMet(): boolean {
    return this.#met.size > 0;
  }
}

function knownOf(
  { identity }: ListDefinition,
  { index, size, summary, isEnd }: KnownPage,
  direction: Direction,
): (Known & { sum: Sum }) | null {
  const total = isEnd ? index * size + summary.count : Number.POSITIVE_INFINITY;
  const flags = { asked: 0, arrived: 0, isSecondLook: false, reading: 0 };
  const answer: PageAnswer = { index, size, total, summary, ...flags };
  const window = windowOf(answer, isEnd, direction, identity.by);
  const sum = window && sumSpokenOf(window);
  return window && sum && { summary, range: keysOf(window, direction), sum };
}
