import { FingerprintSum } from '../contract/fingerprint.ts';
import type { ListDefinition } from '../contract/lists.ts';
import { type Page, type PageContent, readContent } from '../contract/page.ts';
import { type PageReader, pageReader } from '../contract/record.ts';
import { MirrorFileError } from '../errors.ts';
import type {
  Applied,
  ApplyOrder,
  ListEnds,
  ListMirror,
  ListOutcome,
  PageFacts,
  PageFindings,
  WalkEnvelope,
} from '../sync/ports.ts';
import { Application, type ChangeObserver, type StoredPage } from './apply.ts';
import { ConnectionClaims } from './connection-claims.ts';
import { ConnectionTable } from './connection-table.ts';
import { packIds, unpackIds } from './id-runs.ts';
import { IdSet } from './id-set.ts';
import { KnownPages } from './known-pages.ts';
import { readEdges, writeEdges } from './list-edges.ts';
import { ListTable } from './list-table.ts';
import { beginWriting, rollBack, Turn, tryBeginWriting } from './list-transaction.ts';
import type { MirrorFile } from './open.ts';
import type { RunRecords } from './run-records.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import { takeUpStagedWalk } from './staged-walk.ts';
import type { StagedPage, Staging } from './staging.ts';
import { type ComparedPage, WalkComparison } from './walk-comparison.ts';

/** The run that works on the mirror. In a dry run every transaction is rolled back, and `id` stands nowhere. */
export interface CurrentRun {
  readonly id: number;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly isDry: boolean;
  /** Called inside each transaction of a dry run, to make the rows that others refer to. */
  readonly prepare: () => void;
}

/** The number under which pages of a list's ends are staged; walks count from 1. */
const walkOfEnds = 0;
/** Lists of so few pages are read whole in every sweep. */
const pagesReadAlwaysMax = 10;

/** One list's part of a run: compares pages on arrival, stages what is new, and writes it all in one transaction. */
export class SqliteListMirror implements ListMirror {
  readonly recordCount: number;
  readonly pageSizeThatWorked: number | null;
  readonly #list: ListDefinition;
  readonly #file: MirrorFile;
  readonly #staging: Staging;
  readonly #records: RunRecords;
  readonly #run: CurrentRun;
  readonly #table: ListTable;
  readonly #reader: PageReader;
  readonly #observe: ChangeObserver | undefined;
  readonly #lastDigest: string | null;
  readonly #knownPages: KnownPages;
  #walks: WalkComparison[] = [];
  /** What was read of the list's ends, while that is all that is read. */
  #ends: WalkComparison | null = null;
  #early: EarlyWriting | null = null;

  constructor(options: {
    list: ListDefinition;
    file: MirrorFile;
    staging: Staging;
    records: RunRecords;
    run: CurrentRun;
    observe: ChangeObserver | undefined;
  }) {
    this.#list = options.list;
    this.#file = options.file;
    this.#staging = options.staging;
    this.#records = options.records;
    this.#run = options.run;
    this.#observe = options.observe;
    this.#table = new ListTable(this.#file.sqlite, this.#list);
    this.#reader = pageReader(this.#list);
    this.recordCount = this.#table.count();
    this.#knownPages = new KnownPages(this.#file.sqlite, this.#list.resource);
    if (new ConnectionTable(this.#file.sqlite).hasUnclaimedName()) this.#knownPages.distrust();
    const last = this.#records.lastApplied(this.#list.resource);
    this.#lastDigest = last?.digest ?? null;
    this.pageSizeThatWorked = last?.baseUrl === this.#run.baseUrl ? last.pageSize : null;
  }

  get ends(): ListEnds | null {
    const { resource } = this.#list;
    const edges = readEdges(this.#file, resource);
    // A walk that was interrupted is taken up again first.
    if (edges === null || this.#staging.lastWalk(resource) !== null) return null;
    return {
      edges,
      begin: () => {
        this.#ends = new WalkComparison(this.#table, this.#reader, this.recordCount > 0);
        this.#ends.claimsAreComplete = false;
        this.#staging.forgetPages(resource, walkOfEnds);
      },
      giveUp: () => {
        this.#ends = null;
        this.#staging.forgetPages(resource, walkOfEnds);
      },
    };
  }

  beginWalk(envelope: WalkEnvelope, firstPage: Page): PageFindings[] {
    this.#giveUpEarlyWriting();
    const { resource } = this.#list;
    const { id, startedAt, baseUrl } = this.#run;
    const walk = new WalkComparison(this.#table, this.#reader, this.recordCount > 0);
    this.#walks.push(walk);
    const number = this.#walks.length;
    if (number === 1) {
      const now = { ...envelope, baseUrl };
      const taken = takeUpStagedWalk(
        this.#staging,
        this.#records,
        resource,
        now,
        firstPage.itemsDigest,
        walk,
      );
      if (taken.length > 0) return taken;
      this.#staging.clear(resource);
      this.#beginEarlyWriting();
    }
    const origin = { ...envelope, baseUrl, runId: id, runStartedAt: startedAt };
    this.#staging.beginWalk(resource, number, origin, Date.now());
    return [];
  }

  takeIn(facts: PageFacts, page: Page): PageFindings {
    return this.#explained(() => {
      const { sqlite } = this.#file;
      // One read transaction a page: without it each look-up takes and drops the file's locks by itself.
      const compared = sqlite.inTransaction
        ? this.#compare(facts, page)
        : sqlite.transaction(() => this.#compare(facts, page))();
      const { staged } = compared;
      this.#staging.add(this.#list.resource, this.#ends === null ? this.#walks.length : walkOfEnds, staged);
      if (this.#early !== null) this.#writeEarly(this.#early, compared, page);
      return staged.findings;
    });
  }

  knownItemCount(itemsDigest: string): number | null {
    return this.#knownPages.get(itemsDigest)?.itemCount ?? null;
  }

  unseenCount(): number {
    const unseen = this.recordCount - this.#current.rowsSeen;
    if (unseen >= 0) return unseen;
    // Known pages name rows that are gone: someone else has written to the file. The next walk reads every record.
    this.#knownPages.distrust();
    return -unseen;
  }

  async apply(
    order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<Applied> {
    const { sqlite, path } = this.#file;
    if (order.walks !== 'last') this.#giveUpEarlyWriting();
    try {
      const early = this.#early;
      const application = early?.application ?? (await this.#beginApplication(signal));
      application.history.endConnections(this.#takeOverConnections(order));
      if (early === null) {
        for (const walk of this.#walksOf(order)) await this.#storeWalk(application, walk, order, signal);
      }
      const applied = this.#finish(application, order, outcome);
      signal.throwIfAborted();
      sqlite.exec(this.#run.isDry ? 'ROLLBACK' : 'COMMIT');
      this.#staging.clear(this.#list.resource);
      return applied;
    } catch (error) {
      rollBack(sqlite);
      throw explainSqliteError(error, path);
    }
  }

  /** What is left to do when all records are stored: removals, and what the next run and the audit need to know. */
  #finish(application: Application, order: ApplyOrder, outcome: (applied: Applied) => ListOutcome): Applied {
    const isSweep = order.walks !== 'edges';
    if (isSweep && this.recordCount > 0) this.#removeMissing(application, order);
    application.dropReleasedConnections();
    if (isSweep) this.#keepPages(application, order);
    const { rejected, removalsWithheld } = application.counts;
    const isSure = rejected === 0 && removalsWithheld === 0;
    writeEdges(this.#file, this.#list.resource, this.#run.id, isSure ? order.edges : null);
    const applied = this.#summarize(application);
    this.#records.endList(this.#run.id, outcome(applied), applied);
    return applied;
  }

  /**
   * Begins to write a list that is empty as its pages arrive, in the one transaction that is committed when the walk is
   * believed: the first sync then need not read every page twice, and writes while it waits for the service.
   */
  #beginEarlyWriting(): void {
    const { sqlite } = this.#file;
    if (this.recordCount > 0 || this.#run.isDry || !tryBeginWriting(sqlite)) return;
    // Connections are known when all pages are: until then, rows refer to what is not there yet.
    sqlite.pragma('defer_foreign_keys = ON');
    this.#early = { application: this.#newApplication(), taken: new IdSet() };
  }

  #giveUpEarlyWriting(): void {
    if (this.#early === null) return;
    rollBack(this.#file.sqlite);
    this.#early = null;
  }

  #writeEarly({ application, taken }: EarlyWriting, compared: ComparedPage, page: Page): void {
    const { staged, newRecords, rejections } = compared;
    const { findings, news } = staged;
    if (news === null || page.content === null) return;
    const stored = application.storeRecords(page.content, newRecords, news.positions, taken);
    application.reject(findings.pageNo, [...stored.turnedAway, ...rejections]);
    if (stored.turnedAway.length === 0) this.#keepPage(staged, stored.rowIds);
  }

  /** The walks that an order is about, each with its number in the staging file. */
  #walksOf({ walks }: ApplyOrder): NumberedWalk[] {
    if (this.#ends !== null) return [{ number: walkOfEnds, comparison: this.#ends }];
    const numbered = this.#walks.map((comparison, at) => ({ number: at + 1, comparison }));
    return walks === 'last' ? numbered.slice(-1) : numbered;
  }

  #removeMissing(application: Application, order: ApplyOrder): void {
    const seen = this.#walksOf(order).map(({ comparison }) => comparison.seen);
    const isEveryRowSeen = seen.some(ids => ids.size === this.recordCount + application.counts.inserted);
    if (!isEveryRowSeen) application.removeMissing(id => seen.some(ids => ids.has(id)), order.removalsMax);
  }

  #compare(facts: PageFacts, page: Page): ComparedPage {
    const known = page.content === null ? this.#knownPages.get(facts.itemsDigest) : undefined;
    if (known !== undefined) return this.#current.enterKnown(facts, known);
    return this.#current.compare(facts, page.content ?? readContent(page.bytes), page.bytes);
  }

  get #current(): WalkComparison {
    return this.#ends ?? (this.#walks.at(-1) as WalkComparison);
  }

  #takeOverConnections(order: ApplyOrder) {
    const claims = order.walks === 'all' ? new ConnectionClaims() : this.#current.claims;
    if (order.walks === 'all') for (const walk of this.#walks) claims.join(walk.claims);
    const isComplete = order.walks === 'last' && this.#current.claimsAreComplete;
    const table = new ConnectionTable(this.#file.sqlite);
    return table.takeOver(claims, this.#list.connectionNameRank, isComplete, this.#run.id);
  }

  /** Stores what a walk found to be new or changed, page by page, and writes down which pages hold which rows. */
  async #storeWalk(
    application: Application,
    walk: NumberedWalk,
    order: ApplyOrder,
    signal: AbortSignal,
  ): Promise<void> {
    const { seen } = walk.comparison;
    const isLast = walk.comparison === this.#current;
    const turn = new Turn();
    for (const staged of this.#staging.pagesWithNews(this.#list.resource, walk.number)) {
      const { findings, news } = staged;
      const content = readContent(news.bytes);
      const stored =
        order.walks === 'all'
          ? storeWhole(application, content, seen)
          : application.storeNews(content, news, seen);
      if (isLast) application.reject(findings.pageNo, stored.turnedAway);
      if (isLast && findings.rejected > 0) {
        application.reject(findings.pageNo, this.#reader.read(content).rejections);
      }
      if (order.walks === 'last' && stored.turnedAway.length === 0) this.#keepPage(staged, stored.rowIds);
      await turn.next(signal);
    }
  }

  /** Brings the known pages in line with what the last walk saw; where nothing has changed, they stand as they are. */
  #keepPages(application: Application, order: ApplyOrder): void {
    const { inserted, updated, removed } = application.counts;
    if (inserted + updated + removed === 0 && this.#knownPages.size > 0) return;
    if (order.walks === 'all') {
      this.#knownPages.forget();
      return;
    }
    for (const staged of this.#staging.pagesWithoutNews(this.#list.resource, this.#walks.length)) {
      this.#keepPage(staged, []);
    }
    this.#knownPages.forgetOthers();
  }

  #keepPage({ findings, rowIds }: StagedPage, storedRowIds: readonly number[]): void {
    const { pageNo, itemCount, itemsDigest, sum } = findings;
    // Short lists are read whole each time: it costs nothing, and shows every connection's name.
    const isWorthIt = findings.pagination.pageCount > pagesReadAlwaysMax;
    if (!isWorthIt || findings.rejected > 0 || findings.mayRepeat) return;
    const all = storedRowIds.length === 0 ? rowIds : packIds([...unpackIds(rowIds), ...storedRowIds]);
    this.#knownPages.keep(itemsDigest, { pageNo, itemCount, sum, rowIds: all });
  }

  #summarize(application: Application): Applied {
    const { counts } = application;
    return {
      ...counts,
      unchanged: this.recordCount - counts.updated - counts.removed - counts.removalsWithheld,
      recordCount: this.recordCount + counts.inserted - counts.removed,
      digest: application.digest,
      connectionNameConflicts: this.#current.claims.conflictCount,
    };
  }

  async #beginApplication(signal: AbortSignal): Promise<Application> {
    await beginWriting(this.#file.sqlite, signal);
    if (this.#run.isDry) this.#run.prepare();
    return this.#newApplication();
  }

  #newApplication(): Application {
    const { sqlite } = this.#file;
    return new Application({
      sqlite,
      table: this.#table,
      connections: new ConnectionTable(sqlite),
      reader: this.#reader,
      runId: this.#run.id,
      wasEmpty: this.recordCount === 0,
      claimsAreComplete: this.#current.claimsAreComplete,
      sum: this.#sumBefore(),
      observe: this.#observe,
    });
  }

  #sumBefore(): FingerprintSum {
    if (this.recordCount === 0) return new FingerprintSum();
    if (this.#lastDigest !== null) return FingerprintSum.from(Buffer.from(this.#lastDigest, 'hex'));
    throw new MirrorFileError(
      `${this.#file.path} holds ${this.#list.resource} that no run has recorded. Restore it from a backup, or sync into a new file.`,
    );
  }

  #explained<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explainSqliteError(error, this.#file.path);
    }
  }
}

/** A first sync that is written as its pages arrive. */
interface EarlyWriting {
  readonly application: Application;
  readonly taken: IdSet;
}

interface NumberedWalk {
  readonly number: number;
  readonly comparison: WalkComparison;
}

/** Where no walk can be trusted as a whole, a page still can: it was one answer. So only twins on one page count as two. */
function storeWhole(application: Application, page: PageContent, seen: IdSet): StoredPage {
  const onPage = new Set<number>();
  const stored = application.storePage(page, onPage);
  for (const id of onPage) seen.add(id);
  return stored;
}
