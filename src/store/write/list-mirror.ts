import type { Page } from '../../contract/page.ts';
import { addressText, type PageAddress, type PageItems } from '../../proof/windows/page.ts';
import type { Verdict } from '../../proof/windows/verdict.ts';
import type {
  Applied,
  ListMemory as KnownMemory,
  ListMirror,
  ListOutcome,
  ListResult,
  PageReading,
  Written,
} from '../../sync/ports.ts';
import { OtherWriters } from '../file/other-writers.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { assertSums } from '../receipts/altered-lists.ts';
import { lastState } from '../receipts/run-receipt.ts';
import { ListTable } from '../tables/list-table.ts';
import { tellChanges } from './dry-run-changes.ts';
import { settleEdits } from './edited-records.ts';
import { KnownPages } from './known-pages.ts';
import type { ListContext } from './list-context.ts';
import { type KnownPage, ListMemory, type ListState, nothingLearnt } from './list-memory.ts';
import { ListReading } from './list-reading.ts';
import { ListRows } from './list-rows.ts';
import { ListWriter } from './list-writer.ts';
import { settleRepeats } from './repeated-records.ts';
import { fatesOf } from './row-fates.ts';
import { UnshownRows } from './unshown-rows.ts';

/**
 * One list's part of a run. Its pages are compared as they arrive, and new records are written at once, in the one transaction that
 * ends with the list.
 */
export class SqliteListMirror implements ListMirror {
  readonly memory: KnownMemory;
  readonly #context: ListContext;
  readonly #others: OtherWriters;
  readonly #state: ListState;
  readonly #used: ReadonlySet<string>;
  #reading: ListReading;
  #known: KnownPages | null = null;
  #storedPages: readonly KnownPage[] | null = null;
  #digests: ReadonlySet<string> | null = null;
  #unshown: UnshownRows;
  #isTrusting = true;
  /** Known pages show how many records were seen only until a row is removed. */
  #seenBeforeWriting: number | null = null;

  /** @param options the values that reading and writing the list need. */
  static open(options: Omit<ListContext, 'table' | 'memory' | 'sum'>): SqliteListMirror {
    const { file, list } = options;
    return new SqliteListMirror({
      ...options,
      table: new ListTable(file.sqlite, list),
      memory: new ListMemory(file.sqlite, list.resource),
      sum: lastState(file.sqlite, list.resource),
    });
  }

  private constructor(context: ListContext) {
    const { file, memory, run, list } = context;
    this.#context = context;
    this.#others = new OtherWriters(file.sqlite);
    const state = memory.readState();
    const isOfService = context.records.lastWritten(list.resource)?.baseUrl === run.baseUrl;
    this.#state = isOfService ? state : nothingLearnt;
    this.memory = { order: this.#state.order, growth: this.#growth() };
    const since = new Date(Date.parse(run.startedAt) - run.addressesKeptMs).toISOString();
    this.#used = memory.usedSince(since);
    this.#reading = new ListReading(context);
    this.#unshown = new UnshownRows(context, this.#reading, () => this.#known);
  }

  get seenCount(): number {
    return this.#seenBeforeWriting ?? this.#countSeen();
  }

  #countSeen(): number {
    return this.#reading.shownCount + this.#reading.rejected.count + this.#knownCount;
  }

  /** The number of rows that were shown only by known pages, which were not parsed. */
  get #knownCount(): number {
    return this.#reading.isComplete ? 0 : this.#unshown.knownSum().count;
  }

  hasTwins(): boolean {
    return this.#context.list.identity.by === 'content' && this.#context.table.hasRepeats();
  }

  isUsed(address: PageAddress): boolean {
    return this.#used.has(addressText(address));
  }

  isKnown(itemsDigest: string): boolean {
    if (this.#reading.pages.has(itemsDigest)) return true;
    // The rows are read only if a page comes that was there before.
    return this.#isTrusting && this.#storedDigests.has(itemsDigest) && this.#knownPages.has(itemsDigest);
  }

  itemsOf(digest: string): PageItems | null {
    return this.#reading.pages.get(digest)?.items ?? null;
  }

  beginRound(): void {
    this.#reading.beginRound();
  }

  async read(page: Page, address: PageAddress, signal: AbortSignal): Promise<PageReading> {
    const { path } = this.#context.file;
    try {
      if (this.#reading.wasRead(page)) return this.#reading.enterAgain(page);
      if (page.content === null) return this.#reading.enterKnown(this.#knownPages.take(page.itemsDigest));
      return await this.#reading.enter(page, address, () => this.#begin(signal));
    } catch (error) {
      throw explainSqliteError(error, path);
    }
  }

  async keysToConfirm(verdict: Verdict, signal: AbortSignal): Promise<Float64Array> {
    try {
      await this.#settleRepeats(verdict, signal);
      this.#settleEdits(null);
    } catch (error) {
      throw explainSqliteError(error, this.#context.file.path);
    }
    const unshown = this.#unshown.all();
    const fates = fatesOf(verdict, unshown, {
      shownCount: this.seenCount,
      isLookExhausted: false,
      waiting: this.#waiting,
    });
    return Float64Array.from(unshown.filter((_, at) => fates[at] === 'unconfirmed').map(({ key }) => key));
  }

  beginAgain(): void {
    const { file, table, sum, transactions } = this.#context;
    transactions.rollBack();
    assertSums(file, [{ resource: table.list.resource, expected: sum }]);
    this.#isTrusting = false;
    this.#known = null;
    this.#reading = new ListReading(this.#context);
    this.#unshown = new UnshownRows(this.#context, this.#reading, () => this.#known);
  }

  async apply(
    result: ListResult,
    outcome: (applied: Applied, unproven: string | null) => ListOutcome,
    signal: AbortSignal,
  ): Promise<Written> {
    const { file, run, list, transactions, table, observe } = this.#context;
    try {
      const rows = this.#reading.rows ?? (await this.#begin(signal));
      rows.buildIndexes();
      this.#settleEdits(totalOf(result));
      this.#seenBeforeWriting = this.#countSeen();
      const writer = new ListWriter(this.#context, rows, this.#reading, this.#unshown, this.#state);
      const written = await writer.write(result, outcome, signal);
      if (written.kind === 'again') {
        if (!this.#isTrusting) throw new Error(`${list.resource}: ${written.reason}`);
        // The pages of the growing end count for the full sync that follows, and `beginAgain` discards the rest.
        return written;
      }
      signal.throwIfAborted();
      if (observe !== undefined)
        tellChanges(rows.transaction.sqlite, table, rows.connections, run.id, observe);
      if (run.isDry) transactions.rollBack();
      else transactions.commit();
      return written;
    } catch (error) {
      transactions.rollBack();
      throw explainSqliteError(error, file.path);
    }
  }

  /** Begins the list's transaction. */
  async #begin(signal: AbortSignal): Promise<ListRows> {
    const { transactions, table, file, sum } = this.#context;
    const transaction = await transactions.begin(signal);
    // From here on nobody else can write, and nothing of this run was written yet.
    if (this.#others.haveWritten()) assertSums(file, [{ resource: table.list.resource, expected: sum }]);
    const rows = new ListRows(transaction, this.#context, table.count() === 0);
    this.#reading.rows = rows;
    return rows;
  }

  /** Shows the list's number of rows for each record that is on several pages, and inserts the missing ones. */
  async #settleRepeats(verdict: Verdict, signal: AbortSignal): Promise<void> {
    if (verdict.rule !== 'agreement' || !verdict.isProven || verdict.repeated.length === 0) return;
    const rows = this.#reading.rows ?? (await this.#begin(signal));
    settleRepeats(this.#context.table, rows, this.#reading, verdict.repeated);
  }

  #settleEdits(total: number | null): void {
    const { rows } = this.#reading;
    if (rows === null) return;
    const { table, run, sum } = this.#context;
    // If the list was empty before, a record is an edit only if more records were shown than the list's total.
    if (sum.count === 0 && (total === null || this.#reading.shownCount <= total)) return;
    settleEdits(table, rows, this.#reading, this.#unshown, run.id);
  }

  get #knownPages(): KnownPages {
    const { table } = this.#context;
    this.#known ??= new KnownPages(table, this.#stored, this.#state.order);
    return this.#known;
  }

  get #storedDigests(): ReadonlySet<string> {
    this.#digests ??= new Set(this.#stored.map(({ summary }) => summary.digest));
    return this.#digests;
  }

  get #stored(): readonly KnownPage[] {
    this.#storedPages ??= this.#context.memory.readPages();
    return this.#storedPages;
  }

  get #waiting(): ReadonlySet<number> {
    return new Set(this.#state.waiting);
  }

  #growth(): KnownMemory['growth'] {
    const { growth, order } = this.#state;
    const { sum, list } = this.#context;
    if (growth === null || order === null || order === 'none') return null;
    const { newestKey, newestRows: _rows, ...rest } = growth;
    return { ...rest, list: { identity: list.identity.by, direction: order, newestKey, count: sum.count } };
  }
}

/** The greatest total that an answer stated. */
function totalOf({ answers }: ListResult): number {
  return answers.reduce((greatest, { total }) => Math.max(greatest, total), 0);
}
