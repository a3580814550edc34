import type Database from 'better-sqlite3';
import { hash16 } from '../../contract/sum.ts';
import { type LearntOrder, learntOrder } from '../../proof/order.ts';
import type { Proof } from '../../proof/prove.ts';
import type { NameEntry } from './connections.ts';
import type { KnownPage } from './known-pages.ts';
import type { Stage } from './stage.ts';

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

/** What a run knows of a list for the next one. */
export interface ListState {
  /** The order of the list, as the last proven full sync saw it. */
  readonly order: LearntOrder;
  /** Null if the last run was not sure of the list. */
  readonly growth: GrowingEnd | null;
  /** The names that remembered pages give to connections. */
  readonly names: readonly NameEntry[];
}

/** The state of a list before anything is known of it. */
export const nothingLearnt: ListState = { order: null, growth: null, names: [] };

interface PageRow {
  readonly pageSize: number;
  readonly pageIndex: number;
  readonly usedAt: string;
  readonly digest: Buffer | null;
  readonly summary: string | null;
  readonly check: Buffer;
}

type Summary = [rows: KnownPage['rows'], contents: string, names: number[]];

/**
 * The notes of runs about one list. They save work and are never believed: the commit gate compares sums. Each row has a hash over its
 * values, and an altered row is ignored.
 */
export class ListMemory {
  readonly #sqlite: Database.Database;
  readonly #resource: string;

  constructor(sqlite: Database.Database, resource: string) {
    this.#sqlite = sqlite;
    this.#resource = resource;
  }

  readState(): ListState {
    const row = this.#stateRow();
    if (row === undefined || !this.#check(row.runId, row.state).equals(row.check)) return nothingLearnt;
    const state = { ...nothingLearnt, ...(JSON.parse(row.state) as Partial<ListState>) };
    // Version 0.3.0 knew only a direction, by a word.
    return typeof state.order === 'string' && state.order !== 'none' ? nothingLearnt : state;
  }

  writeState(runId: number, state: ListState): void {
    const json = JSON.stringify(state);
    this.#sqlite
      .prepare('INSERT OR REPLACE INTO _list_states (resource, run_id, state, "check") VALUES (?, ?, ?, ?)')
      .run(this.#resource, runId, json, this.#check(runId, json));
  }

  readPages(): KnownPage[] {
    return this.#pageRows().flatMap(row => {
      if (row.digest === null || row.summary === null || !this.#checkOf(row).equals(row.check)) return [];
      const summary = JSON.parse(row.summary) as unknown;
      if (!Array.isArray(summary)) return [];
      const [rows, contents, names] = summary as Summary;
      const { pageIndex: index, pageSize: size, digest } = row;
      return [{ index, size, digest: digest.toString('hex'), rows, contents, names: Int32Array.from(names) }];
    });
  }

  /** Replaces the pages that are remembered. */
  writePages(usedAt: string, pages: Iterable<KnownPage>): void {
    this.#sqlite.prepare('DELETE FROM _pages WHERE resource = ?').run(this.#resource);
    const write = this.#sqlite.prepare(
      'INSERT INTO _pages (resource, page_size, page_index, used_at, digest, summary, "check") VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    for (const { index: pageIndex, size: pageSize, digest: hex, rows, contents, names } of pages) {
      const summary = JSON.stringify([rows, contents, [...names]] satisfies Summary);
      const digest = Buffer.from(hex, 'hex');
      const check = this.#checkOf({ pageSize, pageIndex, usedAt, digest, summary });
      write.run(this.#resource, pageSize, pageIndex, usedAt, digest, summary, check);
    }
  }

  forget(runId: number): void {
    this.writePages('', []);
    this.writeState(runId, nothingLearnt);
  }

  /** The tables with rows that another program changed. */
  misfits(): { readonly table: string; readonly what: string }[] {
    const state = this.#stateRow();
    const isStateOther = state !== undefined && !this.#check(state.runId, state.state).equals(state.check);
    const isPageOther = this.#pageRows().some(row => !this.#checkOf(row).equals(row.check));
    const other = (table: string, what: string) => ({
      table,
      what: `${this.#resource}: ${what} was changed after docmirror wrote it`,
    });
    return [
      ...(isPageOther ? [other('_pages', 'a page')] : []),
      ...(isStateOther ? [other('_list_states', 'the row')] : []),
    ];
  }

  #pageRows(): PageRow[] {
    const columns =
      'page_size AS pageSize, page_index AS pageIndex, used_at AS usedAt, digest, summary, "check"';
    return this.#sqlite
      .prepare<[string], PageRow>(`SELECT ${columns} FROM _pages WHERE resource = ?`)
      .all(this.#resource);
  }

  #stateRow() {
    type Row = { runId: number; state: string; check: Buffer };
    const query = 'SELECT run_id AS runId, state, "check" FROM _list_states WHERE resource = ?';
    return this.#sqlite.prepare<[string], Row>(query).get(this.#resource);
  }

  #checkOf({ pageSize, pageIndex, usedAt, digest, summary }: Omit<PageRow, 'check'>): Buffer {
    return this.#check(pageSize, pageIndex, usedAt, digest?.toString('hex') ?? '', summary ?? '');
  }

  #check(...values: readonly (string | number)[]): Buffer {
    return hash16(JSON.stringify([this.#resource, ...values]));
  }
}

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

/** A list with at most this many pages is always read in full: it costs little, and shows every change. */
const pagesAlwaysInFull = 10;
/** If more rows share the newest time, the list is read in full. */
const newestRowsMax = 1_000;

/**
 * What the next run can know of a list that was written.
 *
 * @param isSure whether the run was sure of the list, and withheld and rejected nothing.
 */
export function stateAfter(
  stage: Stage,
  before: ListState,
  { proof, unproven, firstPageNo, pageSize, readAt }: ReadList,
  isSure: boolean,
  names: readonly NameEntry[],
): ListState {
  if (proof === null) {
    const newest = isSure && before.growth !== null ? newestOf(stage, before.order) : null;
    return { ...before, growth: newest === null ? null : { ...(before.growth as GrowingEnd), ...newest } };
  }
  const order = unproven === null ? learntOrder(proof.answers, before.order) : before.order;
  const isOrdered = isSure && order !== null && order !== 'none' && proof.verdict.rule === 'key';
  const isLong = stage.table.count() > pagesAlwaysInFull * pageSize;
  const newest = isOrdered && isLong ? newestOf(stage, order) : null;
  const growth = newest === null ? null : { sweptAt: readAt, firstPageNo, pageSize, ...newest };
  return { order, names, growth };
}

/** The newest key of the rows that is surely of no stray, and its rows; null if there is none, or if too many rows share it. */
function newestOf(
  { sqlite, sql }: Stage,
  order: LearntOrder,
): Pick<GrowingEnd, 'newestKey' | 'newestRows'> | null {
  const strays = order === null || order === 'none' ? 0 : order.strays;
  const newestKey = sqlite.prepare<[number], number>(sql.newestKey).pluck().get(strays);
  if (newestKey === undefined) return null;
  const newestRows = sqlite
    .prepare<[number, number], number>(sql.rowsOfKey)
    .pluck()
    .all(newestKey, newestRowsMax + 1);
  return newestRows.length <= newestRowsMax ? { newestKey, newestRows } : null;
}
