import type Database from 'better-sqlite3';
import { contentBytes, hash16Hex } from '../../contract/sum.ts';
import type { Proof } from '../../proof/prove.ts';
import { addressText, type PageAddress, PageItems } from '../../proof/window.ts';
import type { ListTable } from '../tables/list-table.ts';
import { listSql } from './list-sql.ts';

/** A page that was parsed, in this run or in the last proven full sync. */
export interface ParsedPage {
  readonly items: PageItems;
  /** For each item its row or id; in a list without ids below zero: minus the number of a staged record; NaN if it has none of its own. */
  readonly rows: Float64Array;
  /** The names that it gives to connections: pairs of an entry's number in the book of names, and a place. */
  readonly names: Int32Array;
  /** The numbers of the first and the last answer with it, among all answers of the run. */
  first: number;
  last: number;
}

/** A parse that is remembered: if the rows still have these contents, this page has been parsed. */
export interface KnownPage extends PageAddress {
  /** 32 hexadecimal digits over the items' bytes. */
  readonly digest: string;
  /** Its rows in the order of the page, as ranges of ids. */
  readonly rows: readonly (readonly [from: number, to: number])[];
  /** 32 hexadecimal digits over the contents of its rows, in that order. */
  readonly contents: string;
  /** The names that it gave to connections: pairs of a number of `ListState.names`, and the place of the record. */
  readonly names: Int32Array;
}

/** The pages that the last proven full sync has left. */
export class KnownPages {
  readonly #table: ListTable;
  readonly #read: () => readonly KnownPage[];
  readonly #rows: Database.Statement<[from: number, to: number], [number, string | null, string]>;
  #pages: ReadonlyMap<string, KnownPage> | null = null;

  /** @param read reads what is remembered, once the first page comes. */
  constructor(sqlite: Database.Database, table: ListTable, read: () => readonly KnownPage[]) {
    this.#table = table;
    this.#read = read;
    this.#rows = sqlite
      .prepare<[number, number], [number, string | null, string]>(listSql(table.list).known)
      .raw();
  }

  /** A page as if it had been parsed now; null if it is not remembered, or if its rows have other contents. */
  recall(digest: string): ParsedPage | null {
    this.#pages ??= new Map(this.#read().map(page => [page.digest, page]));
    const known = this.#pages.get(digest);
    if (known === undefined) return null;
    const rows: number[] = [];
    const keys: (number | null)[] = [];
    let hex = '';
    for (const [from, to] of known.rows) {
      const [found, contents, leads] = this.#rows.get(from, to) as [number, string | null, string];
      if (found !== to - from + 1) return null;
      hex += contents;
      keys.push(...(JSON.parse(leads) as (number | null)[]));
      for (let id = from; id <= to; id++) rows.push(id);
    }
    const contents = Buffer.from(hex, 'hex');
    const isSame = contents.length === rows.length * contentBytes && hash16Hex(contents) === known.contents; // guard: contents of known pages
    if (!isSame) return null;
    const items = new PageItems(
      digest,
      Float64Array.from(keys, key => key ?? Number.NaN),
      contents,
      this.#table.list.identity.by,
    );
    return { items, rows: Float64Array.from(rows), names: known.names, first: 0, last: 0 };
  }
}

/** The row of a staged record; null if it has none. */
export type RowOf = (n: number) => number | null;

/** The pages of a proven full sync, for the next run: those of the plan, or of readings by the list's own page size. */
export function* pagesToRemember(
  parsedPages: ReadonlyMap<string, ParsedPage>,
  { verdict, answers }: Proof,
  pageSize: number,
  rowOf: RowOf,
): Generator<KnownPage> {
  const done = new Set<string>();
  for (const { index, size, page, isSecondLook } of answers) {
    const parsed = parsedPages.get(page.digest);
    const isKept = !isSecondLook && (verdict.rule === 'key' || size === pageSize);
    if (!isKept || page.count === 0 || parsed === undefined || done.has(addressText({ index, size })))
      continue;
    const rows = rangesOf(parsed, rowOf);
    if (rows === null) continue;
    done.add(addressText({ index, size }));
    yield {
      index,
      size,
      digest: page.digest,
      rows,
      contents: hash16Hex(page.contents),
      names: parsed.names,
    };
  }
}

function rangesOf({ rows }: ParsedPage, rowOf: RowOf): [number, number][] | null {
  const ranges: [number, number][] = [];
  for (const place of rows) {
    const row = place < 0 ? rowOf(-place) : place;
    if (row === null || !(row > 0)) return null;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === row) last[1] = row;
    else ranges.push([row, row]);
  }
  return ranges;
}
