import type { Page } from '../../contract/page.ts';
import type { Answer, ReadItems } from '../../proof/answer.ts';
import type { Envelope } from '../../proof/envelope.ts';
import type { ListEdges } from '../../proof/incremental.ts';
import type { Standing } from '../../proof/standing.ts';
import type { Applied, ApplyOrder, ListMirror, ListOutcome, PageReading } from '../../sync/ports.ts';
import { OtherWriters } from '../file/other-writers.ts';
import { explaining, explainSqliteError } from '../file/sqlite-errors.ts';
import { assertSums } from '../receipts/altered-lists.ts';
import { lastState } from '../receipts/run-receipt.ts';
import { ListTable } from '../tables/list-table.ts';
import type { CurrentRun, ListContext } from './list-context.ts';
import { ListRows } from './list-rows.ts';
import { ListWriter } from './list-writer.ts';
import { inOneRead, itemsOfStaged, PageComparison } from './page-comparison.ts';
import type { WrittenList } from './run-records.ts';
import { type KnownPages, type ListState, noKnownPages, nothingLearnt, Shortcuts } from './shortcuts.ts';
import { resumeWalk } from './staged-walk.ts';
import type { KeptPage } from './staging.ts';

/** Sweeps in which nothing may have changed or gone, for a list to be one that only grows. */
const sweepsLookedAt = 10;
/** Pages whose items are kept at hand: a strip asks for the same few again and again. */
const pagesAtHandMax = 16;

const nothingFound = { newCount: 0, firstNew: -1, lastNew: -1, changed: 0 };

/** One list's part of a run: reads pages on arrival, keeps what is new, and writes it all in one transaction. */
export class SqliteListMirror implements ListMirror {
  standing: Standing;
  readonly #context: ListContext;
  readonly #others: OtherWriters;
  readonly #comparison: PageComparison;
  readonly #readings = new Map<string, PageReading>();
  readonly #atHand = new Map<string, ReadItems>();
  #walk = 0;
  #knownPages: KnownPages;
  #state: ListState;
  #rowsOnArrival: ListRows | null = null;

  /** @param options what reading and writing the list needs. */
  static open(options: Omit<ListContext, 'table' | 'shortcuts' | 'sum'>): SqliteListMirror {
    const { file, list } = options;
    return new SqliteListMirror({
      ...options,
      table: new ListTable(file.sqlite, list),
      shortcuts: new Shortcuts(file.sqlite, list.resource),
      sum: lastState(file.sqlite, list.resource),
    });
  }

  private constructor(context: ListContext) {
    this.#context = context;
    this.#others = new OtherWriters(context.file.sqlite);
    this.#comparison = new PageComparison(context.table);
    this.#state = context.shortcuts.readState();
    this.#knownPages = context.shortcuts.readPages();
    this.standing = this.#readStanding();
  }

  edges(): ListEdges | null {
    // A walk that was interrupted is taken up again first.
    const { staging, list } = this.#context;
    return staging.interruptedWalk(list.resource) === null ? this.#state.edges : null;
  }

  readonly itemsOf = (digest: string): ReadItems | null => {
    const atHand = this.#atHand.get(digest);
    if (atHand !== undefined) return atHand;
    const page = this.#stagedPage(digest);
    if (page === null) return null;
    const items = itemsOfStaged(page);
    if (this.#atHand.size >= pagesAtHandMax) this.#atHand.clear();
    this.#atHand.set(digest, items);
    return items;
  };

  known(digest: string, isTrusting: boolean): PageReading | null {
    const read = this.#readings.get(digest);
    if (read !== undefined) return read;
    const sum = isTrusting ? this.#knownPages.sums.get(digest) : undefined;
    if (sum === undefined) return null;
    return { count: sum.count, digest, sum, rejected: null, found: nothingFound };
  }

  read(page: Page): PageReading {
    return explaining(this.#context.file.path, () => this.#read(page));
  }

  #read(page: Page): PageReading {
    const { file, staging, list } = this.#context;
    // What the first walk brings into an empty list is written at once; later walks are held against that.
    const hasRows = this.standing.sum.count > 0 || this.#walk > 1;
    const read = inOneRead(file.sqlite, () => this.#comparison.compare(page, hasRows));
    const { reading, newRecords } = read;
    // Where the transaction is given up, the page is all that is left of what was written as it arrived.
    const staged =
      this.#rowsOnArrival === null ? read.staged : { ...read.staged, newRecords: null, bytes: page.items };
    if (this.#walk === 1) this.#rowsOnArrival?.insertOnArrival(staged, newRecords);
    staging.addPage(list.resource, staged);
    this.#atHand.delete(reading.digest);
    this.#readings.set(reading.digest, reading);
    return reading;
  }

  beginWalk(walk: number, envelope: Envelope, firstDigest: string): readonly Answer[] {
    return explaining(this.#context.file.path, () => this.#beginWalk(walk, envelope, firstDigest));
  }

  #beginWalk(walk: number, envelope: Envelope, firstDigest: string): readonly Answer[] {
    this.#walk = walk;
    if (walk > 1) {
      this.#rowsOnArrival?.buildIndexes();
      return [];
    }
    const { staging, list, run } = this.#context;
    this.#forgetReadings();
    const taken = resumeWalk(this.#context, this.#knownPages, envelope, firstDigest);
    if (taken.length > 0) {
      for (const { digest, count, sum, rejected } of taken) {
        // A page that the interrupted walk knew and did not read must be read by a walk that trusts nothing.
        if (this.#stagedPage(digest) === null) continue;
        this.#readings.set(digest, { digest, count, sum, rejected, found: nothingFound });
      }
      return taken;
    }
    const origin = { ...envelope, baseUrl: run.baseUrl, runId: run.id, runStartedAt: run.startedAt };
    staging.beginWalk(list.resource, origin, Date.now());
    this.#beginOnArrival();
    return [];
  }

  keep(walk: number, answer: Answer): void {
    const { file, staging, list } = this.#context;
    if (walk === 1) explaining(file.path, () => staging.addPlace(list.resource, answer));
  }

  readAnew(): void {
    this.#forgetReadings();
    this.#context.staging.clear(this.#context.list.resource);
  }

  distrust(): void {
    this.#giveUp();
    this.readAnew();
    const { file, table, sum } = this.#context;
    assertSums(file, [{ resource: table.list.resource, expected: sum }]);
    this.#state = nothingLearnt;
    this.#knownPages = noKnownPages;
    this.standing = { ...this.#readStanding(), isReading: false };
  }

  async apply(
    order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    const { file, run, staging, list, transactions, sum } = this.#context;
    try {
      if (order.kind !== 'list') this.#giveUp();
      const rows = this.#rowsOnArrival ?? (await this.#beginRows(signal));
      // Nobody else can write from here on.
      if (this.#rowsOnArrival === null && this.#others.haveWritten())
        assertSums(file, [{ resource: list.resource, expected: sum }]);
      rows.buildIndexes();
      const stagedPage = (digest: string) => this.#stagedPage(digest);
      const writer = new ListWriter(this.#context, rows, stagedPage, this.#state);
      const written = await writer.write(order, this.standing.sum.count, outcome, signal);
      signal.throwIfAborted();
      if (run.isDry) transactions.rollBack();
      else transactions.commit();
      this.#rowsOnArrival = null;
      staging.discard(list.resource);
      return written;
    } catch (error) {
      this.#giveUp();
      throw explainSqliteError(error, file.path);
    }
  }

  /**
   * Begins to write a list that is empty as its pages arrive, in the one transaction that is committed when it is proven: a first
   * sync then need not read every page twice, and writes while it waits for the service.
   */
  #beginOnArrival(): void {
    const { transactions, run, table } = this.#context;
    if (this.standing.sum.count > 0 || run.isDry) return;
    const transaction = transactions.tryBegin();
    if (transaction === null) return;
    // Another program may have put rows there.
    if (table.count() > 0) {
      transactions.rollBack();
      return;
    }
    // Connections are known when all pages are: until then, rows refer to what is not there yet.
    transaction.sqlite.pragma('defer_foreign_keys = ON');
    this.#rowsOnArrival = new ListRows(transaction, this.#context, true);
  }

  #forgetReadings(): void {
    this.#giveUp();
    this.#readings.clear();
    this.#atHand.clear();
  }

  /** Takes back what was written and not committed; what was written as it arrived is then known by its pages alone. */
  #giveUp(): void {
    this.#context.transactions.rollBack();
    if (this.#rowsOnArrival === null) return;
    this.#rowsOnArrival = null;
    this.#context.staging.forgetRows(this.#context.list.resource);
    this.#atHand.clear();
  }

  async #beginRows(signal: AbortSignal): Promise<ListRows> {
    const transaction = await this.#context.transactions.begin(signal);
    this.#context.run.prepare(transaction);
    return new ListRows(transaction, this.#context, false);
  }

  #stagedPage(digest: string): KeptPage | null {
    return this.#context.staging.page(this.#context.list.resource, digest);
  }

  #readStanding(): Standing {
    const { records, list, run } = this.#context;
    const { mayRepeat, counting, pageCount } = this.#state;
    const sweeps = records.sweeps(list.resource, sweepsLookedAt);
    const written = sweeps[0] === undefined ? [] : records.writtenSince(list.resource, sweeps[0].runId);
    const { sum } = this.#context;
    return {
      sum,
      settledCount: records.lastSettled(list.resource)?.recordCount ?? sum.count,
      isReading: isReading(written, run),
      mayRepeat: this.#context.list.identity.by === 'content' && mayRepeat,
      counting,
      hasOnlyGrown: sweeps.every(isOnlyGrowth),
      pageDigests: digestsInPlace(this.#knownPages, pageCount),
    };
  }
}

/** Whether the mirror as it stands counts as a reading: the last sweep was proven, and only incremental runs came since. */
function isReading(sinceSweep: readonly WrittenList[], { baseUrl }: CurrentRun): boolean {
  if (sinceSweep.at(-1)?.completeness !== 'proven') return false;
  return sinceSweep.every(
    each => each.baseUrl === baseUrl && each.checksum !== null && each.removalsWithheld === 0,
  );
}

function isOnlyGrowth({ completeness, updated, removed }: WrittenList): boolean {
  return completeness === 'proven' && updated + removed === 0;
}

/** The digests of the known pages in the order of their places; null where one of them is missing. */
function digestsInPlace({ inPlace }: KnownPages, count: number | null): string[] | null {
  const digests = inPlace.filter(digest => digest !== undefined);
  return digests.length === count && inPlace.length === count ? digests : null;
}
