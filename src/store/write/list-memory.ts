import type Database from 'better-sqlite3';
import { and, eq, getTableColumns, gte, lt } from 'drizzle-orm';
import { hash16, Sum } from '../../contract/sum.ts';
import type { LearntOrder } from '../../proof/windows/order.ts';
import type { PageAddress, PageItems, PageSummary } from '../../proof/windows/page.ts';
import { addressText } from '../../proof/windows/page.ts';
import { listStates, pages } from '../tables/schema.ts';
import { prepare, prepareReplace, select, words } from '../tables/statement.ts';

/** The state that a run leaves for the next one. */
export interface ListState {
  /** The order of the list, as the last proven full sync saw it. */
  readonly order: LearntOrder;
  /** Rows that were gone in the last run, and that are removed if they are gone in the next one, too. */
  readonly waiting: readonly number[];
  /** The growing end, from which an incremental run begins; null if the last run was not sure of the list. */
  readonly growth: {
    /** When the last proven full sync began, as an ISO date in UTC. */
    readonly sweptAt: string;
    readonly firstPageNo: number;
    readonly pageSize: number;
    /** The key of the newest record. */
    readonly newestKey: number;
    /** The rows with that key. */
    readonly newestRows: readonly number[];
  } | null;
}

/** The state of a list before anything is known of it. */
export const nothingLearnt: ListState = { order: null, waiting: [], growth: null };

/** A page of the last proven full sync. */
export interface KnownPage extends PageAddress {
  readonly summary: PageSummary;
  /** Whether it was the end of the list. */
  readonly isEnd: boolean;
}

/** A page that a run asked for, with its summary if the page can be known later. */
export interface UsedPage extends PageAddress {
  readonly known: { readonly summary: PageSummary; readonly isEnd: boolean } | null;
}

type PageRow = Readonly<Omit<typeof pages.$inferSelect, 'resource'>>;

/**
 * The notes of runs about one list. They save work and are never trusted: all of them enter a sum that is compared with the rows.
 * Each row has a hash over all its values, and an altered row is ignored.
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
    prepareReplace(this.#sqlite, listStates, 'resource', 'runId', 'state', 'check').run(
      this.#resource,
      runId,
      json,
      this.#check(runId, json),
    );
  }

  /** The addresses that runs have used since a time, as `addressText` writes them. */
  usedSince(since: string): ReadonlySet<string> {
    const rows = prepare(this.#sqlite, (resource: string, from: string) =>
      select({ index: pages.pageIndex, size: pages.pageSize })
        .from(pages)
        .where(and(eq(pages.resource, resource), gte(pages.usedAt, from))),
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
   * Notes the pages that a run asked for, and forgets the summaries of all other pages.
   *
   * @param keepSince older ones are forgotten.
   */
  writePages(usedAt: string, used: readonly UsedPage[], keepSince: string): void {
    prepare(this.#sqlite, (resource: string, since: string) =>
      words.delete(pages).where(and(eq(pages.resource, resource), lt(pages.usedAt, since))),
    ).run(this.#resource, keepSince);
    const write = prepareReplace(
      this.#sqlite,
      pages,
      'resource',
      'pageSize',
      'pageIndex',
      'usedAt',
      'digest',
      'summary',
      'check',
    );
    for (const { index, size, known } of used) {
      const digest = known === null ? null : Buffer.from(known.summary.digest, 'hex');
      const summary = known && writeKnown(known);
      const row = { pageSize: size, pageIndex: index, usedAt, digest, summary };
      write.run(this.#resource, size, index, usedAt, digest, summary, this.#checkOf(row));
    }
    this.#forgetPages(({ usedAt: at }) => at !== usedAt);
  }

  /** Forgets the summaries of some pages, but not that they were used. */
  #forgetPages(isForgotten: (row: PageRow) => boolean): void {
    const all = this.#pageRows().filter(isForgotten);
    const isPage = (resource: string, size: number, index: number) =>
      and(eq(pages.resource, resource), eq(pages.pageSize, size), eq(pages.pageIndex, index));
    const remove = prepare(this.#sqlite, (resource: string, size: number, index: number) =>
      words.delete(pages).where(isPage(resource, size, index)),
    );
    const write = prepare(this.#sqlite, (check: Buffer, resource: string, size: number, index: number) =>
      words
        .update(pages)
        .set({ digest: null, summary: null, check })
        .where(isPage(resource, size, index)),
    );
    for (const row of all) {
      const page = [this.#resource, row.pageSize, row.pageIndex] as const;
      if (!this.#checkOf(row).equals(row.check)) remove.run(...page);
      else if (row.digest !== null)
        write.run(this.#checkOf({ ...row, digest: null, summary: null }), ...page);
    }
  }

  /** Forgets everything except the addresses that were used. */
  forget(runId: number): void {
    this.#forgetPages(() => true);
    this.writeState(runId, nothingLearnt);
  }

  /** The rows that are not as docmirror wrote them, in words; a run ignores them. */
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
    const { resource, ...columns } = getTableColumns(pages);
    return prepare(this.#sqlite, (of: string) => select(columns).from(pages).where(eq(resource, of))).all(
      this.#resource,
    );
  }

  #stateRow() {
    const { resource, ...columns } = getTableColumns(listStates);
    return prepare(this.#sqlite, (of: string) =>
      select(columns).from(listStates).where(eq(resource, of)),
    ).get(this.#resource);
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
