// All by hand: docmirror's own notes, read and written whole.
import type Database from 'better-sqlite3';
import { hash16 } from '../../contract/sum.ts';
import { type LearntOrder, learntOrder, straysMax } from '../../proof/order.ts';
import type { Proof } from '../../proof/prove.ts';
import type { Direction } from '../../proof/window.ts';
import type { NameEntry } from './connections.ts';
import type { KnownPage, RowOf } from './known-pages.ts';
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
    const { order = null, growth = null, names = [] } = JSON.parse(row.state) as Partial<ListState>;
    // Version 0.3.0 knew a direction, and began an incremental run from other facts.
    const isOld = typeof order === 'string' && order !== 'none';
    const direction = order as unknown as Direction;
    if (isOld) return { order: { direction, slack: 0, stretch: 0, strays: 0 }, growth: null, names: [] };
    return { order, growth, names };
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
      'INSERT OR REPLACE INTO _pages (resource, page_size, page_index, used_at, digest, summary, "check") VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    for (const { index: pageIndex, size: pageSize, digest: hex, rows, contents, names } of pages) {
      const summary = JSON.stringify([rows, contents, [...names]] satisfies Summary);
      const digest = Buffer.from(hex, 'hex');
      const check = this.#checkOf({ pageSize, pageIndex, usedAt, digest, summary });
      write.run(this.#resource, pageSize, pageIndex, usedAt, digest, summary, check);
    }
  }

  forget(runId: number): void {
    this.#sqlite.prepare('DELETE FROM _pages WHERE resource = ?').run(this.#resource);
    this.writeState(runId, nothingLearnt);
  }

  /** The rows that another program changed. */
  *misfits(): Generator<{ readonly table: '_pages' | '_list_states'; readonly what: string }> {
    if (this.#pageRows().some(row => !this.#checkOf(row).equals(row.check)))
      yield { table: '_pages', what: `${this.#resource}: a page was changed after docmirror wrote it` };
    const row = this.#stateRow();
    if (row !== undefined && !this.#check(row.runId, row.state).equals(row.check))
      yield {
        table: '_list_states',
        what: `${this.#resource}: the row was changed after docmirror wrote it`,
      };
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
    const columns = 'run_id AS runId, state, "check"';
    return this.#sqlite
      .prepare<[string], Row>(`SELECT ${columns} FROM _list_states WHERE resource = ?`)
      .get(this.#resource);
  }

  #checkOf({ pageSize, pageIndex, usedAt, digest, summary }: Omit<PageRow, 'check'>): Buffer {
    return this.#check(pageSize, pageIndex, usedAt, digest?.toString('hex') ?? '', summary ?? '');
  }

  #check(...values: readonly (string | number)[]): Buffer {
    return hash16(JSON.stringify([this.#resource, ...values]));
  }
}

/** A list that was written, for what the next run can know of it. */
export interface WrittenState {
  /** Null if only the growing end was read. */
  readonly proof: Proof | null;
  readonly unproven: string | null;
  readonly firstPageNo: number;
  readonly pageSize: number;
  readonly readAt: string;
  /** Whether the run was sure of the list, and withheld and rejected nothing. */
  readonly isSure: boolean;
  readonly rowCount: number;
  readonly rowOf: RowOf;
  readonly has: (row: number) => boolean;
}

/** A list with at most this many pages is always read in full: it costs little, and shows every change. */
const pagesAlwaysInFull = 10;
/** If more rows share the newest time, the list is read in full. */
const newestRowsMax = 1_000;

/** What the next run can know of the list. */
export function stateAfter(
  stage: Stage,
  before: ListState,
  written: WrittenState,
  names: readonly NameEntry[],
): ListState {
  const { proof, isSure, firstPageNo, pageSize, readAt } = written;
  if (proof === null) {
    const { growth, order } = before;
    const newest = newestOf(stage, before, written, order);
    const isKnown = isSure && growth !== null && newest !== null;
    return { order, names: before.names, growth: isKnown ? { ...growth, ...newest } : null };
  }
  const order = written.unproven === null ? learntOrder(proof.answers, before.order) : before.order;
  const isOrdered = isSure && order !== null && order !== 'none' && proof.verdict.rule === 'key';
  const newest = isOrdered ? newestOf(stage, before, written, order) : null;
  const isLong = written.rowCount > pagesAlwaysInFull * pageSize;
  const growth = newest !== null && isLong ? { sweptAt: readAt, firstPageNo, pageSize, ...newest } : null;
  return { order, names, growth };
}

/** The newest key that was read and that is surely of no stray, and its rows; null if there is none, or if too many rows share it. */
function newestOf(
  stage: Stage,
  before: ListState,
  { rowOf, has, proof }: WrittenState,
  order: LearntOrder,
): { newestKey: number; newestRows: number[] } | null {
  const strays = order === null || order === 'none' ? 0 : order.strays;
  const rows = new Map<number, Set<number>>();
  let least = Number.NEGATIVE_INFINITY;
  // Only the greatest few keys can be meant.
  const add = (key: number, row: number) => {
    if (key < least) return;
    const known = rows.get(key) ?? new Set();
    rows.set(key, known.add(row));
    if (rows.size <= straysMax + 1) return;
    rows.delete(least === Number.NEGATIVE_INFINITY ? Math.min(...rows.keys()) : least);
    least = Math.min(...rows.keys());
  };
  if (proof === null && before.growth !== null)
    for (const row of before.growth.newestRows) add(before.growth.newestKey, row);
  const pages = [...stage.pages.values()].sort((a, b) => b.items.greatest - a.items.greatest);
  for (const { items, rows: places } of pages) {
    if (items.greatest < least) break;
    for (const [at, place] of places.entries()) {
      const key = items.keys[at] as number;
      const row = place < 0 && !stage.isOfIds ? rowOf(-place) : place;
      if (row !== null && !Number.isNaN(row) && !Number.isNaN(key)) add(key, row);
    }
  }
  const there = [...rows].map(([key, ids]) => ({ newestKey: key, newestRows: [...ids].filter(has) }));
  const newest = there.filter(each => each.newestRows.length > 0).sort((a, b) => b.newestKey - a.newestKey);
  const found = newest[strays];
  return found !== undefined && found.newestRows.length <= newestRowsMax ? found : null;
}
