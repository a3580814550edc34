import type Database from 'better-sqlite3';
import { hash16, Sum } from '../../contract/sum.ts';
import type { LearntOrder } from '../../proof/windows/order.ts';
import type { PageAddress, PageItems, PageSummary } from '../../proof/windows/page.ts';
import { addressText } from '../../proof/windows/page.ts';

/** What a run leaves for the next one. */
export interface ListState {
  /** The order of the list, as the last proven full sync saw it. */
  readonly order: LearntOrder;
  /** Rows that the last run showed gone, and that go if the next one shows the same. */
  readonly waiting: readonly number[];
  /** The growing end, from which an incremental run begins; null if the last run was not sure of the list. */
  readonly growth: {
    /** When the last proven full sync began, as an ISO date in UTC. */
    readonly sweptAt: string;
    readonly firstPageNo: number;
    readonly pageSize: number;
    /** The key of the newest record. */
    readonly newestKey: number;
    /** The rows that have it. */
    readonly newestRows: readonly number[];
  } | null;
}

/** The state of a list of which nothing is known. */
export const nothingLearnt: ListState = { order: null, waiting: [], growth: null };

/** A page of the last proven full sync. */
export interface KnownPage extends PageAddress {
  readonly summary: PageSummary;
  /** Whether it was the end of the list. */
  readonly isEnd: boolean;
}

/** A page that a run asked for, with what it came to if it is to be known. */
export interface UsedPage extends PageAddress {
  readonly known: { readonly summary: PageSummary; readonly isEnd: boolean } | null;
}

interface PageRow {
  readonly pageSize: number;
  readonly pageIndex: number;
  readonly usedAt: string;
  readonly digest: Buffer | null;
  readonly summary: string | null;
  readonly check: Buffer;
}

/**
 * What runs remember of one list. It saves work and is never believed: whatever it says enters a sum that is compared with the
 * rows, and each row of it has a hash over all its values, so that a row that was altered counts as none.
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
    return JSON.parse(row.state) as ListState;
  }

  writeState(runId: number, state: ListState): void {
    const json = JSON.stringify(state);
    this.#sqlite
      .prepare('INSERT OR REPLACE INTO _list_states (resource, run_id, state, "check") VALUES (?, ?, ?, ?)')
      .run(this.#resource, runId, json, this.#check(runId, json));
  }

  /** The addresses that runs have used since a time, as `addressText` writes them. */
  usedSince(since: string): ReadonlySet<string> {
    const rows = this.#sqlite.prepare<[string, string], PageAddress>(
      'SELECT page_index AS "index", page_size AS size FROM _pages WHERE resource = ? AND used_at >= ?',
    );
    return new Set(rows.all(this.#resource, since).map(addressText));
  }

  /** The pages of the last proven full sync. */
  readPages(): KnownPage[] {
    return this.#pageRows().flatMap(row => {
      if (row.digest === null || row.summary === null || !this.#checkOf(row).equals(row.check)) return [];
      return [readKnown(row, row.digest, row.summary)];
    });
  }

  /**
   * Notes the pages that a run asked for, and forgets what all other pages came to.
   *
   * @param keepSince older ones are forgotten.
   */
  writePages(usedAt: string, pages: readonly UsedPage[], keepSince: string): void {
    this.#sqlite
      .prepare('DELETE FROM _pages WHERE resource = ? AND used_at < ?')
      .run(this.#resource, keepSince);
    const write = this.#sqlite.prepare(
      `INSERT OR REPLACE INTO _pages (resource, page_size, page_index, used_at, digest, summary, "check")
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    for (const { index, size, known } of pages) {
      const digest = known === null ? null : Buffer.from(known.summary.digest, 'hex');
      const summary = known && writeKnown(known);
      const row = { pageSize: size, pageIndex: index, usedAt, digest, summary };
      write.run(this.#resource, size, index, usedAt, digest, summary, this.#checkOf(row));
    }
    this.#forgetPages(({ usedAt: at }) => at !== usedAt);
  }

  /** Forgets what some pages came to; that they were used is still known. */
  #forgetPages(isForgotten: (row: PageRow) => boolean): void {
    const all = this.#pageRows().filter(isForgotten);
    const remove = this.#sqlite.prepare(
      'DELETE FROM _pages WHERE resource = ? AND page_size = ? AND page_index = ?',
    );
    for (const row of all)
      if (!this.#checkOf(row).equals(row.check)) remove.run(this.#resource, row.pageSize, row.pageIndex);
    const rows = all.filter(row => row.digest !== null && this.#checkOf(row).equals(row.check));
    const write = this.#sqlite.prepare(
      `UPDATE _pages SET digest = NULL, summary = NULL, "check" = ? WHERE resource = ? AND page_size = ? AND page_index = ?`,
    );
    for (const row of rows) {
      const check = this.#checkOf({ ...row, digest: null, summary: null });
      write.run(check, this.#resource, row.pageSize, row.pageIndex);
    }
  }

  /** Forgets all but the addresses that were used. */
  forget(runId: number): void {
    this.#forgetPages(() => true);
    this.writeState(runId, nothingLearnt);
  }

  /** What is not as docmirror wrote it, in words; a run passes over it. */
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
    return this.#sqlite
      .prepare<[string], PageRow>(
        `SELECT page_size AS pageSize, page_index AS pageIndex, used_at AS usedAt, digest, summary, "check"
         FROM _pages WHERE resource = ?`,
      )
      .all(this.#resource);
  }

  #stateRow() {
    return this.#sqlite
      .prepare<[string], { runId: number; state: string; check: Buffer }>(
        'SELECT run_id AS runId, state, "check" FROM _list_states WHERE resource = ?',
      )
      .get(this.#resource);
  }

  #checkOf({ pageSize, pageIndex, usedAt, digest, summary }: Omit<PageRow, 'check'>): Buffer {
    return this.#check(pageSize, pageIndex, usedAt, digest?.toString('hex') ?? '', summary ?? '');
  }

  #check(...values: readonly (string | number)[]): Buffer {
    return hash16(JSON.stringify([this.#resource, ...values]));
  }
}

type ItemsTuple = [keys: (number | null)[], contents: string];
type KnownTuple = [
  count: number,
  firstKey: number,
  lastKey: number,
  isUp: boolean,
  isDown: boolean,
  isEnd: boolean,
  sum: string,
  head: ItemsTuple,
  tail: ItemsTuple,
];

function writeKnown({ summary, isEnd }: NonNullable<UsedPage['known']>): string {
  const { count, firstKey, lastKey, isUp, isDown, sum, head, tail } = summary;
  const items = ({ keys, contents }: PageItems): ItemsTuple => [
    [...keys],
    Buffer.from(contents.buffer, contents.byteOffset, contents.length).toString('hex'),
  ];
  const tuple: KnownTuple = [
    count,
    firstKey,
    lastKey,
    isUp,
    isDown,
    isEnd,
    sum.toString(),
    items(head),
    items(tail),
  ];
  return JSON.stringify(tuple);
}

function readKnown({ pageSize, pageIndex }: PageRow, digest: Buffer, json: string): KnownPage {
  const [count, firstKey, lastKey, isUp, isDown, isEnd, sum, head, tail] = JSON.parse(json) as KnownTuple;
  const items = ([keys, contents]: ItemsTuple): PageItems => ({
    keys: Float64Array.from(keys, key => key ?? Number.NaN),
    contents: Uint8Array.from(Buffer.from(contents, 'hex')),
  });
  return {
    index: pageIndex,
    size: pageSize,
    isEnd,
    summary: {
      digest: digest.toString('hex'),
      count,
      firstKey,
      lastKey,
      isUp,
      isDown,
      isIdTwice: false,
      head: items(head),
      tail: items(tail),
      sum: Sum.from(count, sum),
    },
  };
}
