import type { ListDefinition } from '../../contract/lists.ts';
import { type Page, readContent } from '../../contract/page.ts';
import { pageReader } from '../../contract/record.ts';
import type {
  Applied,
  ApplyOrder,
  ListEnds,
  ListMirror,
  ListOutcome,
  PageFacts,
  PageFindings,
  WalkEnvelope,
} from '../../sync/ports.ts';
import type { MirrorFile } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ListTable } from '../tables/list-table.ts';
import type { ChangeObserver } from './apply.ts';
import { KnownPages } from './known-pages.ts';
import { readEdges } from './list-edges.ts';
import { rollBack } from './list-transaction.ts';
import { type CurrentRun, type ListContext, ListWriting, type NumberedWalk } from './list-writing.ts';
import type { RunRecords } from './run-records.ts';
import { takeUpStagedWalk } from './staged-walk.ts';
import type { Staging } from './staging.ts';
import { type ComparedPage, WalkComparison } from './walk-comparison.ts';

/** The number under which pages of a list's ends are staged; walks count from 1. */
const walkOfEnds = 0;

/** One list's part of a run: compares pages on arrival, stages what is new, and writes it all in one transaction. */
export class SqliteListMirror implements ListMirror {
  readonly recordCount: number;
  readonly pageSizeThatWorked: number | null;
  readonly #context: ListContext;
  readonly #writing: ListWriting;
  readonly #walks: NumberedWalk[] = [];
  /** What was read of the list's ends, while that is all that is read. */
  #ends: NumberedWalk | null = null;

  constructor(options: {
    list: ListDefinition;
    file: MirrorFile;
    staging: Staging;
    records: RunRecords;
    run: CurrentRun;
    observe: ChangeObserver | undefined;
  }) {
    const { list, file, records, run } = options;
    const table = new ListTable(file.sqlite, list);
    const knownPages = new KnownPages(file.sqlite, list.resource);
    if (new ConnectionTable(file.sqlite).hasUnclaimedName()) knownPages.distrust();
    this.recordCount = table.count();
    this.#context = {
      ...options,
      table,
      reader: pageReader(list),
      knownPages,
      recordCount: this.recordCount,
    };
    this.#writing = new ListWriting(this.#context);
    const last = records.lastApplied(list.resource);
    this.pageSizeThatWorked = last?.baseUrl === run.baseUrl ? last.pageSize : null;
  }

  get ends(): ListEnds | null {
    const { list, file, staging } = this.#context;
    const edges = readEdges(file, list.resource);
    // A walk that was interrupted is taken up again first.
    if (edges === null || staging.lastWalk(list.resource) !== null) return null;
    return {
      edges,
      begin: () => {
        this.#ends = { number: walkOfEnds, comparison: this.#newComparison() };
        this.#ends.comparison.claimsAreComplete = false;
        staging.forgetPages(list.resource, walkOfEnds);
      },
      giveUp: () => {
        this.#ends = null;
        staging.forgetPages(list.resource, walkOfEnds);
      },
    };
  }

  beginWalk(envelope: WalkEnvelope, firstPage: Page): PageFindings[] {
    this.#writing.giveUpEarly();
    const { staging, list, run } = this.#context;
    const number = this.#walks.length + 1;
    const comparison = this.#newComparison();
    this.#walks.push({ number, comparison });
    if (number === 1) {
      const taken = this.#takeUp(envelope, firstPage, comparison);
      if (taken.length > 0) return taken;
      staging.clear(list.resource);
      this.#writing.beginEarly(comparison);
    }
    const { id, startedAt, baseUrl } = run;
    const origin = { ...envelope, baseUrl, runId: id, runStartedAt: startedAt };
    staging.beginWalk(list.resource, number, origin, Date.now());
    return [];
  }

  takeIn(facts: PageFacts, page: Page): PageFindings {
    const { file, staging, list } = this.#context;
    try {
      // One read transaction a page: without it each look-up takes and drops the file's locks by itself.
      const compared = file.sqlite.inTransaction
        ? this.#compare(facts, page)
        : file.sqlite.transaction(() => this.#compare(facts, page))();
      staging.add(list.resource, this.#current.number, compared.staged);
      this.#writing.writeEarly(compared, page.content);
      return compared.staged.findings;
    } catch (error) {
      throw explainSqliteError(error, file.path);
    }
  }

  knownItemCount(itemsDigest: string): number | null {
    return this.#context.knownPages.get(itemsDigest)?.itemCount ?? null;
  }

  unseenCount(): number {
    const unseen = this.recordCount - this.#current.comparison.rowsSeen;
    if (unseen >= 0) return unseen;
    // Known pages name rows that are gone: someone else has written to the file. The next walk reads every record.
    this.#context.knownPages.distrust();
    return -unseen;
  }

  async apply(
    order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    const { file, run, staging, list } = this.#context;
    try {
      const outcomeWritten = await this.#writing.write(order, this.#walksOf(order), outcome, signal);
      signal.throwIfAborted();
      file.sqlite.exec(run.isDry ? 'ROLLBACK' : 'COMMIT');
      staging.clear(list.resource);
      return outcomeWritten;
    } catch (error) {
      rollBack(file.sqlite);
      throw explainSqliteError(error, file.path);
    }
  }

  get #current(): NumberedWalk {
    return this.#ends ?? (this.#walks.at(-1) as NumberedWalk);
  }

  #walksOf({ walks }: ApplyOrder): readonly NumberedWalk[] {
    return walks === 'all' ? this.#walks : [this.#current];
  }

  #newComparison(): WalkComparison {
    const { table, reader } = this.#context;
    return new WalkComparison(table, reader, this.recordCount > 0);
  }

  #takeUp(envelope: WalkEnvelope, firstPage: Page, comparison: WalkComparison): PageFindings[] {
    const { staging, records, list, run } = this.#context;
    const now = { ...envelope, baseUrl: run.baseUrl };
    return takeUpStagedWalk(staging, records, list.resource, now, firstPage.itemsDigest, comparison);
  }

  #compare(facts: PageFacts, page: Page): ComparedPage {
    const { comparison } = this.#current;
    const known = page.content === null ? this.#context.knownPages.get(facts.itemsDigest) : undefined;
    if (known !== undefined) return comparison.enterKnown(facts, known);
    return comparison.compare(facts, page.content ?? readContent(page.bytes), page.bytes);
  }
}
