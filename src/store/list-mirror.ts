import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { FingerprintSum } from '../contract/fingerprint.ts';
import type { ListDefinition } from '../contract/lists.ts';
import { type Page, readPage } from '../contract/page.ts';
import { type PageReader, pageReader } from '../contract/record.ts';
import { MirrorFileError } from '../errors.ts';
import type {
  Applied,
  ApplyOrder,
  ListMirror,
  ListOutcome,
  PageFacts,
  PageFindings,
  WalkEnvelope,
} from '../sync/ports.ts';
import { Application, type ChangeObserver } from './apply.ts';
import { ConnectionClaims } from './connection-claims.ts';
import { ConnectionTable } from './connection-table.ts';
import { ListTable } from './list-table.ts';
import type { MirrorFile } from './open.ts';
import type { RunRecords } from './run-records.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import type { Staging, WalkOrigin } from './staging.ts';
import { WalkComparison } from './walk-comparison.ts';

/** The run that works on the mirror. In a dry run every transaction is rolled back, and `id` stands nowhere. */
export interface CurrentRun {
  readonly id: number;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly isDry: boolean;
  /** Called inside each transaction of a dry run, to make the rows that others refer to. */
  readonly prepare: () => void;
}

/** A staged walk older than this is begun anew: what it read may have changed without a trace in the counts. */
const resumeAgeMsMax = 60 * 60 * 1000;
/** How long writing waits for another program's lock in all, in milliseconds. */
const lockWaitMsMax = 30_000;
const lockPollMs = 100;
/** How long writing goes on before signals and timers get their turn, in milliseconds. */
const turnMs = 50;

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
  readonly #read: PageReader;
  readonly #observe: ChangeObserver | undefined;
  readonly #lastDigest: string | null;
  readonly #walks: WalkComparison[] = [];

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
    this.#read = pageReader(this.#list);
    this.recordCount = this.#table.count();
    const last = this.#records.lastApplied(this.#list.resource);
    this.#lastDigest = last?.digest ?? null;
    this.pageSizeThatWorked = last?.baseUrl === this.#run.baseUrl ? last.pageSize : null;
  }

  beginWalk(envelope: WalkEnvelope, firstPage: Page): PageFindings[] {
    const walk = new WalkComparison(this.#table, this.#read, this.recordCount > 0);
    this.#walks.push(walk);
    const taken = this.#walks.length === 1 ? this.#takeUp(walk, envelope, firstPage) : [];
    if (taken.length > 0) return taken;
    const { id, startedAt, baseUrl } = this.#run;
    const origin: WalkOrigin = { ...envelope, baseUrl, runId: id, runStartedAt: startedAt };
    if (this.#walks.length === 1) this.#staging.clear(this.#list.resource);
    this.#staging.beginWalk(this.#list.resource, this.#walks.length, origin, Date.now());
    return [];
  }

  takeIn(facts: PageFacts, page: Page): PageFindings {
    const staged = this.#current.compare(facts, page);
    this.#explained(() => this.#staging.add(this.#list.resource, this.#walks.length, staged));
    return staged.findings;
  }

  unseenCount(): number {
    return this.recordCount - this.#current.rowsSeen;
  }

  async apply(
    order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<Applied> {
    const applied = await this.#transaction(signal, async application => {
      const walks = order.walks === 'last' ? [this.#walks.length] : this.#walks.map((_, at) => at + 1);
      application.history.endConnections(this.#takeOverConnections(order));
      for (const walk of walks) await this.#storeWalk(application, walk, order, signal);
      const seen = walks.map(walk => (this.#walks[walk - 1] as WalkComparison).seen);
      const isEveryRowSeen = seen.some(ids => ids.size === this.recordCount + application.counts.inserted);
      if (!isEveryRowSeen) application.removeMissing(id => seen.some(ids => ids.has(id)), order.removalsMax);
      application.dropReleasedConnections();
      const result = this.#summarize(application);
      this.#records.endList(this.#run.id, outcome(result), result);
      return result;
    });
    this.#staging.clear(this.#list.resource);
    return applied;
  }

  get #current(): WalkComparison {
    return this.#walks.at(-1) as WalkComparison;
  }

  /** Takes up the walk that an interrupted run left, where it is of this service and of this state of the mirror. */
  #takeUp(walk: WalkComparison, envelope: WalkEnvelope, firstPage: Page): PageFindings[] {
    const { resource } = this.#list;
    const left = this.#staging.lastWalk(resource);
    if (left === null || !this.#fits(left, envelope)) return [];
    this.#staging.keepAsFirstWalk(resource, left.walk);
    const findings: PageFindings[] = [];
    for (const staged of this.#staging.pages(resource, 1)) {
      const isFirst = staged.findings.pageNo === envelope.firstPageNo;
      if (isFirst && staged.findings.itemsDigest !== firstPage.itemsDigest.toString('hex')) break;
      walk.takeUp(staged, staged.news && readPage(staged.news.bytes));
      findings.push(staged.findings);
    }
    const hasFirst = findings.some(({ pageNo }) => pageNo === envelope.firstPageNo);
    if (hasFirst) return findings;
    this.#walks[0] = new WalkComparison(this.#table, this.#read, this.recordCount > 0);
    return [];
  }

  #fits({ origin, begunAtMs }: { origin: WalkOrigin; begunAtMs: number }, envelope: WalkEnvelope): boolean {
    const isSameList =
      origin.baseUrl === this.#run.baseUrl &&
      origin.firstPageNo === envelope.firstPageNo &&
      origin.pageSize === envelope.pageSize &&
      origin.pageCount === envelope.pageCount &&
      origin.totalRecordCount === envelope.totalRecordCount;
    const isSameMirror =
      this.#records.startOf(origin.runId) === origin.runStartedAt &&
      (this.#records.lastApplied(this.#list.resource)?.runId ?? 0) < origin.runId;
    return isSameList && isSameMirror && Date.now() - begunAtMs < resumeAgeMsMax;
  }

  #takeOverConnections(order: ApplyOrder) {
    const claims = order.walks === 'last' ? this.#current.claims : new ConnectionClaims();
    if (order.walks === 'all') for (const walk of this.#walks) claims.join(walk.claims);
    const isComplete = order.walks === 'last' && this.#current.claimsAreComplete;
    const table = new ConnectionTable(this.#file.sqlite);
    return table.takeOver(claims, this.#list.connectionNameRank, isComplete, this.#run.id);
  }

  async #storeWalk(
    application: Application,
    walk: number,
    order: ApplyOrder,
    signal: AbortSignal,
  ): Promise<void> {
    const { seen } = this.#walks[walk - 1] as WalkComparison;
    const isLast = walk === this.#walks.length;
    let turnEndsAt = Date.now() + turnMs;
    for (const { findings, news } of this.#staging.pagesWithNews(this.#list.resource, walk)) {
      const page = readPage(news.bytes);
      if (order.walks === 'last') {
        application.storePage(findings.pageNo, page, news.positions, seen, true);
      } else {
        // Where no walk can be trusted as a whole, a page still can: it was one answer. So only twins on one page count.
        const onPage = new Set<number>();
        application.storePage(findings.pageNo, page, null, onPage, isLast);
        for (const id of onPage) seen.add(id);
      }
      if (Date.now() > turnEndsAt) {
        await nextTurn();
        signal.throwIfAborted();
        turnEndsAt = Date.now() + turnMs;
      }
    }
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

  /** Runs the work in one transaction, waiting for other programs' locks without holding up signals. */
  async #transaction(
    signal: AbortSignal,
    work: (application: Application) => Promise<Applied>,
  ): Promise<Applied> {
    const { sqlite } = this.#file;
    try {
      await beginImmediate(sqlite, signal);
      if (this.#run.isDry) this.#run.prepare();
      const application = new Application({
        sqlite,
        table: this.#table,
        connections: new ConnectionTable(sqlite),
        read: this.#read,
        runId: this.#run.id,
        wasEmpty: this.recordCount === 0,
        sum: this.#sumBefore(),
        observe: this.#observe,
      });
      const applied = await work(application);
      signal.throwIfAborted();
      sqlite.exec(this.#run.isDry ? 'ROLLBACK' : 'COMMIT');
      return applied;
    } catch (error) {
      if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
      throw explainSqliteError(error, this.#file.path);
    }
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

async function beginImmediate(sqlite: Database.Database, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + lockWaitMsMax;
  for (;;) {
    try {
      sqlite.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
      if (!isBusy || Date.now() > deadline) throw error;
      await wait(lockPollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
