import type { ConnectionMention } from '../../contract/item-parser.ts';
import { type ConnectionClaims, compareTimes } from '../tables/connection-claims.ts';

/** What a record says of a connection: its id, its name and its further fields. */
export type NameEntry = readonly [id: number, name: string | null, extra: string | null];

/** The names that records of a list give to connections, each once. A page has numbers of entries, with the place of its newest record. */
export class NameBook {
  readonly entries: NameEntry[] = [];
  readonly #byId = new Map<number, number[]>();

  constructor(entries: readonly NameEntry[]) {
    for (const [id, name, extra] of entries) this.numberOf({ id, name, extra });
  }

  /** The number of an entry; a new one gets the next number. */
  numberOf({ id, name, extra }: ConnectionMention): number {
    let known = this.#byId.get(id);
    if (known === undefined) {
      known = [];
      this.#byId.set(id, known);
    }
    for (const number of known) {
      const entry = this.entries[number] as NameEntry;
      if (entry[1] === name && entry[2] === extra) return number;
    }
    known.push(this.entries.length);
    this.entries.push([id, name, extra]);
    return this.entries.length - 1;
  }
}

/** Gathers the names on one page: for each entry the place of the newest record that gives it. */
export class PageNames {
  readonly #book: NameBook;
  readonly #newest = new Map<number, { place: number; time: string | null }>();

  constructor(book: NameBook) {
    this.#book = book;
  }

  add(mention: ConnectionMention, place: number, time: string | null): void {
    const number = this.#book.numberOf(mention);
    const known = this.#newest.get(number);
    if (known === undefined) this.#newest.set(number, { place, time });
    else if (compareTimes(time, known.time) > 0) {
      known.place = place;
      known.time = time;
    }
  }

  /** Offers the names to the claims of a reading, and returns them as pairs of an entry's number and a place. */
  offerTo(claims: ConnectionClaims): Int32Array {
    const pairs = new Int32Array(2 * this.#newest.size);
    let at = 0;
    for (const [number, { place, time }] of this.#newest) {
      offer(claims, this.#book, number, time);
      pairs[at++] = number;
      pairs[at++] = place;
    }
    return pairs;
  }
}

/** Offers the name of an entry to the claims of a reading. */
export function offer(
  claims: ConnectionClaims,
  { entries }: NameBook,
  number: number,
  time: string | null,
): void {
  const [id, name, extra] = entries[number] as NameEntry;
  claims.offer({ id, name, extra }, time);
}

/** Pages with the numbers of a new book that has only the entries that these pages give. */
export function compacted<Page extends { readonly names: Int32Array }>(
  pages: readonly Page[],
  { entries }: NameBook,
): { pages: Page[]; entries: NameEntry[] } {
  const numbers = new Map<number, number>();
  const numberOf = (number: number) => {
    const known = numbers.get(number) ?? numbers.size;
    numbers.set(number, known);
    return known;
  };
  const renumbered = pages.map(page => {
    const names = page.names.map((value, at) => (at % 2 === 0 ? numberOf(value) : value));
    return { ...page, names };
  });
  return { pages: renumbered, entries: [...numbers.keys()].map(number => entries[number] as NameEntry) };
}
