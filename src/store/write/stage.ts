import { type Page, parseItems, type UnknownField } from '../../contract/page.ts';
import { readRecords } from '../../contract/record.ts';
import { contentBytes } from '../../contract/sum.ts';
import { straysMax } from '../../proof/order.ts';
import { roomFor } from '../../proof/record-no.ts';
import {
  type Answer,
  type Ask,
  addressText,
  beginOf,
  type PageAddress,
  PageItems,
  type Shown,
} from '../../proof/window.ts';
import { ConnectionNames, comparable } from './connections.ts';
import { FieldsSeen } from './field-facts.ts';
import { type ParsedPage, pageRecaller, type RecalledPage } from './known-pages.ts';
import { type ListSql, listSql } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import { type Reconciliation, reconcile } from './reconcile.ts';
import { Records } from './records.ts';
import { RejectedRecords } from './rejected.ts';
import type { LoggedAnswer } from './resume-log.ts';
import type { SyncState } from './sync-state.ts';

/** What a run reads of a list: the answers that were accepted, and what their pages say. */
export class Stage {
  readonly context: ListContext;
  readonly sql: ListSql;
  readonly records: Records;
  readonly rejected: RejectedRecords;
  readonly pages = new Map<string, ParsedPage>();
  /** What the answers have beside `items` and `pagination`, by name and type. */
  readonly answerMembers = new Map<string, UnknownField>();
  readonly names: ConnectionNames;
  readonly fields: FieldsSeen;
  readonly before: SyncState;
  readonly #answers: Shown[] = [];
  #merged: readonly Shown[] = [];
  #reconciliation: Reconciliation | null = null;
  /** Answers of an earlier run that were not asked for yet, by their addresses; with numbers below those of this run. */
  readonly #older = new Map<string, LoggedAnswer & Pick<Answer, 'asked'>>();
  /** Whether an answer of an earlier run is in use. */
  hasRecalled = false;
  /** Remembered pages that came again; none is accepted yet. */
  readonly #recalled = new Map<string, RecalledPage>();
  readonly #recallPage: ReturnType<typeof pageRecaller>;

  constructor(context: ListContext, before: SyncState) {
    const { list, sqlite } = context;
    this.context = context;
    this.before = before;
    this.sql = listSql(list);
    sqlite.exec(this.sql.create);
    this.records = new Records(context, this.sql);
    this.rejected = new RejectedRecords(context);
    this.names = new ConnectionNames(before.names);
    this.fields = new FieldsSeen(context);
    this.#recallPage = pageRecaller(sqlite, list.identity.by, this.sql, before.pages);
  }

  /** How many records the run has seen, each once. */
  get seenCount(): number {
    return this.reconciliation.seen + this.rejected.count;
  }

  /** How many records the last run that wrote the list could not read. */
  get rejectedBefore(): number {
    const { list, runs, sqlite } = this.context;
    const rejected = 'SELECT count(*) FROM rejected_records WHERE resource = ? AND last_run_id = ?';
    const before = runs.last('written', list.resource)?.runId ?? 0;
    return sqlite.prepare<[string, number], number>(rejected).pluck().get(list.resource, before) ?? 0;
  }

  /** How often answers have shown a record that another one shows, too. */
  get repeatedCount(): number {
    return this.#answers.reduce((sum, { page }) => sum + page.count, 0) - this.seenCount;
  }

  get reconciliation(): Reconciliation {
    const byMoment = () => [...this.#answers, ...this.#merged].sort((a, b) => a.asked - b.asked);
    this.#reconciliation ??= reconcile(
      byMoment().map(({ page }) => page),
      this.records,
    );
    return this.#reconciliation;
  }

  /** Takes the page of an answer that was accepted, with the moment of the logical clock at which it was asked for, and returns what the proof needs of it. */
  accept(page: Page, address: PageAddress, asked: number): Pick<Answer, 'page' | 'oldestNewKeys'> {
    for (const member of page.otherMembers)
      this.answerMembers.set(`${member.jsonType} ${member.field}`, member);
    const newKeys: number[] = [];
    const parsed =
      this.pages.get(page.digest) ?? this.#enterRecalled(page.digest) ?? this.#parse(page, address, newKeys);
    this.pages.set(page.digest, parsed);
    this.#answers.push({ asked, page: parsed.items });
    this.#reconciliation = null;
    // One that can't be read is older than all others.
    const oldest = newKeys.map(comparable).sort((a, b) => a - b);
    return { page: parsed.items, oldestNewKeys: oldest.slice(0, straysMax + 1) };
  }

  /** Makes answers of an earlier run count from here on, the oldest first. */
  goOnWith(answers: readonly LoggedAnswer[]): void {
    for (const [at, answer] of answers.entries())
      this.#older.set(addressText(answer), { ...answer, asked: at - answers.length });
  }

  /** The answer of an earlier run to a request, as if it had come before all others; null if there is none, or if its rows have changed. */
  acceptOlder(ask: Ask): Answer | null {
    const older = this.#older.get(addressText(ask));
    if (older === undefined || !this.recall(older.digest)) return null;
    const { asked, at, total, digest } = older;
    const parsed = this.pages.get(digest) ?? (this.#enterRecalled(digest) as ParsedPage);
    this.pages.set(digest, parsed);
    const { items: page } = parsed;
    this.#answers.push({ asked, page });
    this.#reconciliation = null;
    this.hasRecalled = true;
    return {
      ...ask,
      asked,
      arrived: asked,
      at,
      isRecalled: true,
      total,
      page,
      wrong: null,
      pageCount: null,
      oldestNewKeys: [],
    };
  }

  /** Takes records of several pages that count as one answer, in the place of those before. */
  merge(merged: readonly Shown[]): void {
    this.#merged = merged;
    for (const { page } of merged) for (const record of page.records) this.records.open.add(record);
    this.#reconciliation = null;
  }

  #parse(page: Page, address: PageAddress, newKeys: number[]): ParsedPage {
    const { list, sqlite, sum, table, ignored } = this.context;
    const all = page.items ?? parseItems(page.bytes);
    const { records, rejections, contents } = readRecords(list, all, ignored);
    const keys = new Float64Array(all.length);
    const numbers = roomFor(all.length);
    for (const { position, key } of records) keys[position] = key;
    for (const { position, key, content } of this.rejected.add(rejections, beginOf(address))) {
      keys[position] = key;
      contents.set(content, position * contentBytes);
      this.records.numberRejected(key, content, numbers, position);
    }
    const found = sum.count === 0 ? [] : table.findAll(records);
    newKeys.push(...sqlite.transaction(() => this.records.number(records, found, numbers))());
    this.fields.add(all, records, numbers);
    const names = this.names.read(records, this.#timesOf(keys));
    const items = new PageItems(page.digest, keys, numbers, list.identity.by);
    return { items, names };
  }

  /** Names are as old as their records; in a list with ids nobody knows how old. */
  #timesOf(keys: Float64Array): (place: number) => number {
    if (this.context.list.identity.by === 'id') return () => Number.NEGATIVE_INFINITY;
    return place => comparable(keys[place] as number);
  }

  /** Whether a page needs no parsing: it came in this run, or is remembered and its rows have its contents. That has no effect yet. */
  recall(digest: string): boolean {
    if (this.pages.has(digest) || this.#recalled.has(digest)) return true;
    const page = this.#recallPage(digest);
    if (page !== null) this.#recalled.set(digest, page);
    return page !== null;
  }

  #enterRecalled(digest: string): ParsedPage | undefined {
    const page = this.#recalled.get(digest);
    if (page === undefined) return undefined;
    this.#recalled.delete(digest);
    const { items, names, rows, contents } = page;
    this.names.enter(names, this.#timesOf(items.keys));
    this.records.numberRows(rows, items.keys, contents, items);
    return { items, names };
  }

  end(): void {
    this.context.sqlite.exec(this.sql.drop);
  }
}
