import type { Connection } from '../../contract/content.ts';
import { contentBytes } from '../../contract/sum.ts';
import type { PageItems } from '../../proof/window.ts';
import type { ConnectionNames, Saying } from './connections.ts';

// What a run notes of its pages, so that the next one knows their items by their bytes (known-items.ts).

/** A page whose parse is remembered. */
export interface KnownPage {
  /** The ids of its rows, in the order of its items, as ranges. */
  readonly rows: readonly Range[];
  /** The run that saw it: a later one wrote none of these rows. */
  readonly run: number;
  /** For each item the number of what it says of connections, in base64 of two bytes each. */
  readonly said: string;
  /** The page's pieces, in base64 of `pieceBytes` each; null if it was not cut. */
  readonly pieces: string | null;
}

/** Bytes of a piece that is remembered: 16 of its hash, and two of the number of its items. */
export const pieceBytes = contentBytes + 2;

/** The first and the last id of neighbouring rows; SQL reads it as it is. */
export type Range = readonly [first: number, last: number];

/** A page that was read in this run. */
export interface ParsedPage {
  readonly items: PageItems;
  /** For each item the number of what it says of connections; null if one might have none. */
  readonly said: Uint16Array | null;
  readonly pieces: KnownPage['pieces'];
}

/** The pages of a run, what they say of connections, and the rows that their records have now. */
export interface SeenPages {
  readonly pages: ReadonlyMap<string, ParsedPage>;
  readonly names: ConnectionNames;
  readonly run: number;
  /** Null for a record that has no row. */
  readonly rowsOf: (page: PageItems) => readonly (number | null)[];
}

/** Pages that the next run can know, and what they say of connections. */
export class KnownPages {
  readonly pages: Record<string, KnownPage> = {};
  readonly names: Connection[] = [];
  readonly sayings: Saying[] = [];
  readonly #seen: SeenPages;
  /** The numbers that entries and sayings of this run have here. */
  readonly #entries = new Map<number, number>();
  readonly #sayings = new Map<number, number>([[0, 0]]);

  constructor(seen: SeenPages) {
    this.#seen = seen;
  }

  /** Adds a page of this run; false if a record on it has no row, so that it can't be known. */
  add(digest: string): boolean {
    const parsed = this.#seen.pages.get(digest);
    if (parsed === undefined) return digest in this.pages;
    const { items, said, pieces } = parsed;
    const rows = items.count > 0 && said !== null ? rangesOf(this.#seen.rowsOf(items)) : null;
    if (rows === null || said === null) delete this.pages[digest];
    else this.#note(digest, said, { rows, run: this.#seen.run, pieces });
    return rows !== null;
  }

  /** Adds a page as it is known. */
  keep(digest: string, page: KnownPage): void {
    this.#note(digest, unpackNumbers(page.said), page);
  }

  #note(digest: string, said: Uint16Array, page: Omit<KnownPage, 'said'>): void {
    const numbers = said.map(saying => this.#sayingOf(saying));
    this.pages[digest] = { ...page, said: Buffer.from(numbers.buffer).toString('base64') };
  }

  #sayingOf(saying: number): number {
    const known = this.#sayings.get(saying);
    if (known !== undefined) return known;
    const { before, entry } = this.#seen.names.sayings[saying - 1] as Saying;
    const number = this.sayings.push({ before: this.#sayingOf(before), entry: this.#entryOf(entry) });
    this.#sayings.set(saying, number);
    return number;
  }

  #entryOf(entry: number): number {
    const known = this.#entries.get(entry);
    if (known !== undefined) return known;
    this.#entries.set(entry, this.names.length);
    return this.names.push(this.#seen.names.entries[entry] as Connection) - 1;
  }
}

/** Numbers of two bytes each, from base64. */
export function unpackNumbers(base64: string): Uint16Array {
  return new Uint16Array(new Uint8Array(Buffer.from(base64, 'base64')).buffer);
}

/** The ids in ranges. */
export function idsOf(ranges: readonly Range[]): number[] {
  const ids: number[] = [];
  for (const [first, last] of ranges) for (let id = first; id <= last; id++) ids.push(id);
  return ids;
}

/** Ids as ranges, in their order; null if one is missing. */
export function rangesOf(ids: readonly (number | null)[]): Range[] | null {
  const ranges: [first: number, last: number][] = [];
  for (const id of ids) {
    if (id === null) return null;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === id) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges;
}
