import type Database from 'better-sqlite3';
import type { Connection } from '../../contract/content.ts';
import { contentBytes } from '../../contract/sum.ts';
import { roomFor } from '../../proof/record-no.ts';
import { type Identity, PageItems } from '../../proof/window.ts';
import type { ListSql } from './list-sql.ts';

// A page that the last proven full sync has seen needs no parsing if it comes again, and its rows are as they were.

/** A page whose parse is remembered. */
export interface KnownPage {
  /** The ids of its rows, in the order of its items, as ranges. */
  readonly rows: readonly Range[];
  /** The run that saw it: a later one wrote none of these rows. */
  readonly run: number;
  /** The names that it gives to connections: pairs of a number of the remembered names, and the place of the record. */
  readonly names: readonly number[];
}

/** The first and the last id of neighbouring rows; SQL reads it as it is. */
type Range = readonly [first: number, last: number];

/** A page that was parsed, in this run or in the last proven full sync. */
export interface ParsedPage {
  readonly items: PageItems;
  /** The names that it gives to connections: pairs of an entry's number in the book of names, and a place. */
  readonly names: Int32Array;
}

/** A remembered page whose rows are as they were: these rows, and their contents. Its records have no numbers yet. */
export interface RecalledPage extends ParsedPage {
  readonly rows: readonly number[];
  readonly contents: Buffer;
}

/** Makes a function that recalls a remembered page; null if it is not remembered, or if its rows have changed. */
export function pageRecaller(
  sqlite: Database.Database,
  identity: Identity,
  sql: ListSql,
  pages: Readonly<Record<string, KnownPage>>,
) {
  type Known = [run: number | null, contents: Buffer | null, keys: string];
  const find = sqlite.prepare<[ranges: string], Known>(sql.known).raw();
  return (digest: string): RecalledPage | null => {
    const known = pages[digest];
    if (known === undefined) return null;
    const [run, bytes, json] = find.get(JSON.stringify(known.rows)) as Known;
    const rows = known.rows.flatMap(idsOf);
    const isSame = run !== null && run <= known.run; // guard: rows of known pages
    if (!isSame || bytes?.length !== rows.length * contentBytes) return null;
    const keys = Float64Array.from(JSON.parse(json) as (number | null)[], key => key ?? Number.NaN);
    const items = new PageItems(digest, keys, roomFor(rows.length), identity);
    return { items, names: Int32Array.from(known.names), rows, contents: bytes };
  };
}

const idsOf = ([first, last]: Range) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** The pages of a run, the names that they give to connections, and the rows that their records have now. */
export interface SeenPages {
  readonly pages: ReadonlyMap<string, ParsedPage>;
  readonly names: readonly Connection[];
  readonly run: number;
  /** Null for a record that has no row. */
  readonly rowsOf: (page: PageItems) => readonly (number | null)[];
}

/** Pages that the next run can recall, and the names that they give. */
export class KnownPages {
  readonly pages: Record<string, KnownPage> = {};
  readonly names: Connection[] = [];
  readonly #seen: SeenPages;
  readonly #numbers = new Map<number, number>();

  constructor(seen: SeenPages) {
    this.#seen = seen;
  }

  /** Adds a page of this run; false if a record on it has no row, so that it can't be recalled. */
  add(digest: string): boolean {
    const parsed = this.#seen.pages.get(digest);
    if (parsed === undefined) return digest in this.pages;
    const rows = parsed.items.count > 0 ? rangesOf(this.#seen.rowsOf(parsed.items)) : null;
    if (rows !== null) this.keep(digest, { rows, run: this.#seen.run, names: [...parsed.names] });
    else delete this.pages[digest];
    return rows !== null;
  }

  /** Adds a page as it is known. */
  keep(digest: string, page: KnownPage): void {
    const names = page.names.map((value, at) => (at % 2 === 0 ? this.#numberOf(value) : value));
    this.pages[digest] = { ...page, names };
  }

  #numberOf(entry: number): number {
    const known = this.#numbers.get(entry);
    if (known !== undefined) return known;
    this.#numbers.set(entry, this.names.length);
    return this.names.push(this.#seen.names[entry] as Connection) - 1;
  }
}

function rangesOf(rows: readonly (number | null)[]): Range[] | null {
  const ranges: [first: number, last: number][] = [];
  for (const row of rows) {
    if (row === null) return null;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === row) last[1] = row;
    else ranges.push([row, row]);
  }
  return ranges;
}
