import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import { hash16Hex } from '../../contract/sum.ts';
import { type LearntOrder, learntOrder } from '../../proof/order.ts';
import type { Proof } from '../../proof/prove.ts';
import { PageItems } from '../../proof/window.ts';
import type { NameEntry } from './connections.ts';
import { listSql } from './list-sql.ts';

/** What a run knows of a list for the next one. */
export interface ListState {
  /** The order of the list, as the last proven full sync saw it. */
  readonly order: LearntOrder;
  /** Null if the last run was not sure of the list, or if the list must be read in full for another reason. */
  readonly growth: GrowingEnd | null;
  /** The names that remembered pages give to connections. */
  readonly names: readonly NameEntry[];
}

/** The state of a list before anything is known of it. */
export const nothingLearnt: ListState = { order: null, growth: null, names: [] };

/** The growing end of a list, from which an incremental run begins. */
interface GrowingEnd {
  /** When the last proven full sync began, as an ISO date in UTC. */
  readonly sweptAt: string;
  readonly firstPageNo: number;
  readonly pageSize: number;
  /** The key of the newest record, and the rows with it; of a list with strays, of the newest record that is surely none. */
  readonly newestKey: number;
  readonly newestRows: readonly number[];
}

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

/**
 * A parse that is remembered: the page's rows in its order, as ranges of ids; 32 hexadecimal digits over their contents; and the names that
 * it gave to connections: pairs of a number of `ListState.names`, and the place of the record.
 */
type Summary = [rows: (readonly [from: number, to: number])[], contents: string, names: number[]];

/** A list that was read. */
export interface ReadList {
  /** Null if only the growing end of the list was read. */
  readonly proof: Proof | null;
  /** Why the list is not proven; null if it is. */
  readonly unproven: string | null;
  readonly firstPageNo: number;
  readonly pageSize: number;
  /** When the reading began, as an ISO date in UTC. */
  readonly readAt: string;
}

/** What a run has seen of a list, besides its proof. */
interface Seen {
  readonly before: ListState;
  /** Whether the run was sure of the list, and withheld and rejected nothing. */
  readonly isSure: boolean;
  readonly pages: ReadonlyMap<string, ParsedPage>;
  readonly names: readonly NameEntry[];
  /** How many rows the list has now. */
  readonly rowCount: number;
  /** The row of a staged record; null if it has none. */
  rowOf(n: number): number | null;
}

/** The values of a row that its hash covers, besides the list. */
const values = {
  _pages: 'page_size, page_index, used_at, lower(hex(digest)), summary',
  _list_states: 'run_id, state',
} as const;

/** A list with at most this many pages is always read in full: it costs little, and shows every change. */
const pagesAlwaysInFull = 10;
/** If more rows share the newest time, the list is read in full. */
const newestRowsMax = 1_000;

/**
 * The notes of runs about one list. They save work and are never believed: the commit gate compares sums. Each row has a hash over its
 * values, and an altered row is ignored.
 */
export class ListMemory {
  readonly #sqlite: Database.Database;
  readonly #list: ListDefinition;
  readonly #known: Database.Statement<[summary: string], [string | null, string, string]>;
  #pages: ReadonlyMap<string, string> | null = null;

  constructor(sqlite: Database.Database, list: ListDefinition) {
    this.#sqlite = sqlite;
    this.#list = list;
    this.#known = sqlite.prepare<[string], [string | null, string, string]>(listSql(list).known).raw();
  }

  readState(): ListState {
    const [row] = this.#rows<[runId: number, state: string, check: string]>('_list_states');
    if (row === undefined || !this.#isAsWritten(row)) return nothingLearnt;
    const state = JSON.parse(row[1]) as ListState;
    const newest = state.growth && this.#newest(state.order);
    return { ...state, growth: newest && { ...(state.growth as GrowingEnd), ...newest } };
  }

  /** A page as if it had been parsed now; null if it is not remembered, or if its rows have other contents. */
  recall(digest: string): ParsedPage | null {
    this.#pages ??= new Map(
      this.#rows<[number, number, string, string, string, string]>('_pages')
        .filter(row => this.#isAsWritten(row))
        .map(([, , , pageDigest, page]) => [pageDigest, page]),
    );
    const summary = this.#pages.get(digest);
    if (summary === undefined) return null;
    const [, hash, names] = JSON.parse(summary) as Summary;
    const [hex, keys, rows] = this.#known.get(summary) as [string | null, string, string];
    const contents = Buffer.from(hex ?? '', 'hex');
    const isSame = hash16Hex(contents) === hash; // guard: contents of known pages
    if (!isSame) return null;
    const numbers = Float64Array.from(JSON.parse(keys) as (number | null)[], key => key ?? Number.NaN);
    const items = new PageItems(digest, numbers, contents, this.#list.identity.by);
    const places = { rows: Float64Array.from(JSON.parse(rows)), names: Int32Array.from(names) };
    return { items, ...places, first: 0, last: 0 };
  }

  /** Notes what the next run can know of a list that was written. */
  remember(run: { readonly id: number; readonly startedAt: string }, read: ReadList, seen: Seen): void {
    const { before, isSure, rowCount } = seen;
    const { proof, unproven, firstPageNo, pageSize, readAt } = read;
    if (proof === null) {
      this.#writeState(run.id, isSure ? before : { ...before, growth: null });
      return;
    }
    const names = this.#writePages(run.startedAt, read, seen);
    const order = unproven === null ? learntOrder(proof.answers, before.order) : before.order;
    const isByKey = order !== null && order !== 'none' && proof.verdict.rule === 'key';
    const isGrowing = isSure && isByKey && rowCount > pagesAlwaysInFull * pageSize;
    const growth = isGrowing ? { sweptAt: readAt, firstPageNo, pageSize } : null;
    this.#writeState(run.id, { order, names, growth });
  }

  /**
   * Replaces the pages that are remembered by those of a proven full sync: the pages of its plan, or of readings by the list's own page
   * size. Returns the names that they give, so that these have the numbers of their places.
   */
  #writePages(usedAt: string, { proof, pageSize }: ReadList, { isSure, pages, names, rowOf }: Seen) {
    this.forgetPages();
    const written = new Map<number, number>();
    const numberOf = (number: number) => {
      const known = written.get(number) ?? written.size;
      written.set(number, known);
      return known;
    };
    const write = this.#sqlite.prepare(
      'INSERT OR REPLACE INTO _pages (resource, page_size, page_index, used_at, digest, summary, "check") VALUES (?, ?, ?, ?, unhex(?), ?, unhex(?))',
    );
    for (const { index, size, page, isSecondLook } of isSure && proof !== null ? proof.answers : []) {
      const { digest, contents, count } = page;
      const parsed = pages.get(digest);
      const isKept = !isSecondLook && (proof?.verdict.rule === 'key' || size === pageSize);
      if (!isKept || count === 0 || parsed === undefined) continue;
      const rows = rangesOf(parsed, rowOf);
      if (rows === null) continue;
      const said = [...parsed.names].map((value, at) => (at % 2 === 0 ? numberOf(value) : value));
      const summary = JSON.stringify([rows, hash16Hex(contents), said] satisfies Summary);
      const row = [size, index, usedAt, digest, summary];
      write.run(this.#list.resource, ...row, this.#checkOf(row));
    }
    return [...written.keys()].map(number => names[number] as NameEntry);
  }

  #writeState(runId: number, state: object): void {
    const row = [runId, JSON.stringify(state)];
    this.#sqlite
      .prepare(
        'INSERT OR REPLACE INTO _list_states (resource, run_id, state, "check") VALUES (?, ?, ?, unhex(?))',
      )
      .run(this.#list.resource, ...row, this.#checkOf(row));
  }

  /** The newest key of the rows that is surely of no stray, and its rows; null if there is none, or if too many rows share it. */
  #newest(order: LearntOrder): Pick<GrowingEnd, 'newestKey' | 'newestRows'> | null {
    const sql = listSql(this.#list);
    const find = (query: string) => this.#sqlite.prepare<number[], number>(query).pluck();
    const newestKey = find(sql.newestKey).get(order === null || order === 'none' ? 0 : order.strays);
    if (newestKey === undefined) return null;
    const newestRows = find(sql.rowsOfKey).all(newestKey, newestRowsMax + 1);
    return newestRows.length <= newestRowsMax ? { newestKey, newestRows } : null;
  }

  forget(runId: number): void {
    this.forgetPages();
    this.#writeState(runId, nothingLearnt);
  }

  forgetPages(): void {
    this.#sqlite.prepare('DELETE FROM _pages WHERE resource = ?').run(this.#list.resource);
  }

  /** The tables with rows that another program changed. */
  misfits(): { readonly table: string; readonly what: string }[] {
    const what = `${this.#list.resource}: a row was changed after docmirror wrote it`;
    return (['_pages', '_list_states'] as const)
      .filter(table => this.#rows(table).some(row => !this.#isAsWritten(row)))
      .map(table => ({ table, what }));
  }

  #rows<Row extends unknown[]>(table: keyof typeof values): Row[] {
    const rows = `SELECT ${values[table]}, lower(hex("check")) FROM ${table} WHERE resource = ?`;
    return this.#sqlite.prepare<[string], Row>(rows).raw().all(this.#list.resource);
  }

  /** Whether a row has the hash of its values, which is its last one. */
  #isAsWritten(row: readonly unknown[]): boolean {
    return this.#checkOf(row.slice(0, -1)) === row.at(-1);
  }

  #checkOf(values: readonly unknown[]): string {
    return hash16Hex(JSON.stringify([this.#list.resource, ...values]));
  }
}

function rangesOf({ rows }: ParsedPage, rowOf: Seen['rowOf']): [number, number][] | null {
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
