import { FingerprintSum } from '../../contract/fingerprint.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { type PageContent, readContent } from '../../contract/page.ts';
import type { PageReader } from '../../contract/record.ts';
import { MirrorFileError } from '../../errors.ts';
import type { Applied, ApplyOrder, ListOutcome } from '../../sync/ports.ts';
import type { MirrorFile } from '../file/open.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import { ConnectionTable, type EndedConnection } from '../tables/connection-table.ts';
import type { ListTable } from '../tables/list-table.ts';
import { Application, type ChangeObserver, type StoredPage } from './apply.ts';
import { packIds, unpackIds } from './id-runs.ts';
import { IdSet } from './id-set.ts';
import type { KnownPages } from './known-pages.ts';
import { writeEdges } from './list-edges.ts';
import { beginWriting, rollBack, Turn, tryBeginWriting } from './list-transaction.ts';
import type { RunRecords } from './run-records.ts';
import type { StagedPage, Staging } from './staging.ts';
import type { ComparedPage, WalkComparison } from './walk-comparison.ts';

/** The run that works on the mirror. In a dry run every transaction is rolled back, and `id` stands nowhere. */
export interface CurrentRun {
  readonly id: number;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly isDry: boolean;
  /** Called inside each transaction of a dry run, to make the rows that others refer to. */
  readonly prepare: () => void;
}

/** A walk with the number under which its pages are staged. */
export interface NumberedWalk {
  readonly number: number;
  readonly comparison: WalkComparison;
}

/** What writing a list needs; the same for all of a run's walks over it. */
export interface ListContext {
  readonly list: ListDefinition;
  readonly file: MirrorFile;
  readonly staging: Staging;
  readonly records: RunRecords;
  readonly run: CurrentRun;
  readonly observe: ChangeObserver | undefined;
  readonly table: ListTable;
  readonly reader: PageReader;
  readonly knownPages: KnownPages;
  /** Records in the mirror before. */
  readonly recordCount: number;
}

/** Lists of so few pages are read whole in every sweep: it costs nothing, and shows every connection's name. */
const pagesReadAlwaysMax = 10;

/** Writes one list in one transaction: from the staged pages of its walks or, where it was empty, as its pages arrive. */
export class ListWriting {
  readonly #context: ListContext;
  /** A first sync that is written as its pages arrive. */
  #early: { readonly application: Application; readonly taken: IdSet } | null = null;

  /** Rows that were stored where no walk could be trusted as a whole. */
  readonly #storedAmidDoubt = new IdSet();

  constructor(context: ListContext) {
    this.#context = context;
  }

  /**
   * Begins to write a list that is empty as its pages arrive, in the one transaction that is committed when the walk is
   * believed: a first sync then need not read every page twice, and writes while it waits for the service.
   */
  beginEarly(walk: WalkComparison): void {
    const { file, run, recordCount } = this.#context;
    if (recordCount > 0 || run.isDry || !tryBeginWriting(file.sqlite)) return;
    // Connections are known when all pages are: until then, rows refer to what is not there yet.
    file.sqlite.pragma('defer_foreign_keys = ON');
    this.#early = { application: this.#newApplication(walk), taken: new IdSet() };
  }

  giveUpEarly(): void {
    if (this.#early === null) return;
    rollBack(this.#context.file.sqlite);
    this.#early = null;
  }

  /** Writes a page that has just arrived, where the list is written early. */
  writeEarly({ staged, newRecords, rejections }: ComparedPage, content: PageContent | null): void {
    if (this.#early === null || staged.news === null || content === null) return;
    const { application, taken } = this.#early;
    const stored = application.storeRecords(content, newRecords, staged.news.positions, taken);
    application.reject(staged.findings.pageNo, [...stored.turnedAway, ...rejections]);
    if (stored.turnedAway.length === 0) this.#keepPage(staged, stored.rowIds);
  }

  /** Writes what the walks found, and the list's run record with it; the transaction is left to be committed. */
  async write(
    order: ApplyOrder,
    walks: readonly NumberedWalk[],
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    const { comparison: last } = walks.at(-1) as NumberedWalk;
    if (order.walks !== 'last') this.giveUpEarly();
    const early = this.#early;
    const application = early?.application ?? (await this.#begin(last, signal));
    const renamed = this.#takeOverConnections(order, walks);
    application.history.endConnections(renamed);
    if (early === null)
      for (const walk of walks) await this.#storeWalk(application, walk, order, last, signal);
    return this.#finish(application, order, walks, renamed.length > 0, outcome);
  }

  async #begin(last: WalkComparison, signal: AbortSignal): Promise<Application> {
    const { file, run } = this.#context;
    await beginWriting(file.sqlite, signal);
    if (run.isDry) run.prepare();
    return this.#newApplication(last);
  }

  #newApplication({ claimsAreComplete }: WalkComparison): Application {
    const { file, table, reader, run, recordCount, observe } = this.#context;
    return new Application({
      sqlite: file.sqlite,
      table,
      connections: new ConnectionTable(file.sqlite),
      reader,
      runId: run.id,
      wasEmpty: recordCount === 0,
      claimsAreComplete,
      sum: this.#sumBefore(),
      observe,
    });
  }

  #sumBefore(): FingerprintSum {
    const { file, list, records, recordCount } = this.#context;
    if (recordCount === 0) return new FingerprintSum();
    const digest = records.lastApplied(list.resource)?.digest ?? null;
    if (digest !== null) return FingerprintSum.from(Buffer.from(digest, 'hex'));
    throw new MirrorFileError(
      `${file.path} holds ${list.resource} that no run has recorded. Restore it from a backup, or sync into a new file.`,
    );
  }

  #takeOverConnections(order: ApplyOrder, walks: readonly NumberedWalk[]): EndedConnection[] {
    const { file, list, run } = this.#context;
    const { comparison: last } = walks.at(-1) as NumberedWalk;
    const claims = order.walks === 'all' ? new ConnectionClaims() : last.claims;
    if (order.walks === 'all') for (const { comparison } of walks) claims.join(comparison.claims);
    const isComplete = order.walks === 'last' && last.claimsAreComplete;
    return new ConnectionTable(file.sqlite).takeOver(claims, list.connectionNameRank, isComplete, run.id);
  }

  /** Stores what a walk found to be new or changed, page by page, and writes down which pages hold which rows. */
  async #storeWalk(
    application: Application,
    { number, comparison }: NumberedWalk,
    order: ApplyOrder,
    last: WalkComparison,
    signal: AbortSignal,
  ): Promise<void> {
    const { staging, list, reader } = this.#context;
    const turn = new Turn();
    for (const staged of staging.pagesWithNews(list.resource, number)) {
      const { findings, news } = staged;
      const content = readContent(news.bytes);
      const stored =
        order.walks === 'all'
          ? this.#storeWhole(application, content, last)
          : application.storeNews(content, news, comparison.seen);
      if (comparison === last) {
        application.reject(findings.pageNo, stored.turnedAway);
        if (findings.rejected > 0) application.reject(findings.pageNo, reader.read(content).rejections);
      }
      if (order.walks === 'last' && stored.turnedAway.length === 0) this.#keepPage(staged, stored.rowIds);
      await turn.next(signal);
    }
  }

  /**
   * Stores a page where no walk can be trusted as a whole. A page still can, for it was one answer: so only twins on one page
   * count as two, and a row that the last walk saw as it is stays as it is.
   */
  #storeWhole(application: Application, page: PageContent, last: WalkComparison): StoredPage {
    const onPage = new Set<number>();
    const stored = application.storePage(page, onPage, id => last.seen.has(id));
    for (const id of onPage) this.#storedAmidDoubt.add(id);
    return stored;
  }

  /** What is left to do when all records are stored: removals, and what the next run and the audit need to know. */
  #finish(
    application: Application,
    order: ApplyOrder,
    walks: readonly NumberedWalk[],
    isRenamed: boolean,
    outcome: (applied: Applied) => ListOutcome,
  ): ListOutcome {
    const { file, list, run, records, recordCount } = this.#context;
    const isSweep = order.walks !== 'edges';
    if (isSweep && recordCount > 0) this.#removeMissing(application, order, walks);
    application.dropReleasedConnections();
    if (isSweep) this.#keepPages(application, order, walks, isRenamed);
    const { rejected, removalsWithheld } = application.counts;
    const isSure = rejected === 0 && removalsWithheld === 0;
    writeEdges(file, list.resource, run.id, isSure ? order.edges : null);
    const { comparison: last } = walks.at(-1) as NumberedWalk;
    const applied = this.#summarize(application, last.claims.conflictCount);
    const ended = outcome(applied);
    records.endList(run.id, ended, applied);
    return ended;
  }

  #removeMissing(application: Application, order: ApplyOrder, walks: readonly NumberedWalk[]): void {
    const seen = [this.#storedAmidDoubt, ...walks.map(({ comparison }) => comparison.seen)];
    const rowCount = this.#context.recordCount + application.counts.inserted;
    if (seen.some(ids => ids.size === rowCount)) return;
    application.removeMissing(id => seen.some(ids => ids.has(id)), order.removalsMax);
  }

  /**
   * Brings the known pages in line with what the last walk saw. Where no record and no connection's name has changed, they
   * stand as they are: what they held is still so, whatever order the service lists it in now.
   */
  #keepPages(
    application: Application,
    order: ApplyOrder,
    walks: readonly NumberedWalk[],
    isRenamed: boolean,
  ): void {
    const { knownPages, staging, list } = this.#context;
    const { inserted, updated, removed } = application.counts;
    if (inserted + updated + removed === 0 && !isRenamed && knownPages.size > 0) return;
    if (order.walks === 'all') {
      knownPages.forget();
      return;
    }
    const { number } = walks.at(-1) as NumberedWalk;
    for (const staged of staging.pagesWithoutNews(list.resource, number)) this.#keepPage(staged, []);
    knownPages.forgetOthers();
  }

  #keepPage({ findings, rowIds }: StagedPage, storedRowIds: readonly number[]): void {
    const { pageNo, pagination, itemCount, itemsDigest, sum, rejected, mayRepeat } = findings;
    if (pagination.pageCount <= pagesReadAlwaysMax || rejected > 0 || mayRepeat) return;
    const all = storedRowIds.length === 0 ? rowIds : packIds([...unpackIds(rowIds), ...storedRowIds]);
    this.#context.knownPages.keep(itemsDigest, { pageNo, itemCount, sum, rowIds: all });
  }

  #summarize({ counts, digest }: Application, connectionNameConflicts: number): Applied {
    const { recordCount } = this.#context;
    return {
      ...counts,
      unchanged: recordCount - counts.updated - counts.removed - counts.removalsWithheld,
      recordCount: recordCount + counts.inserted - counts.removed,
      digest,
      connectionNameConflicts,
    };
  }
}
