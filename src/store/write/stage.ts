// What a run has read of a list, before anything is written: each page is entered here, and the proof asks here. Of a record that the mirror
// has, little more than a bit is noted; only the versions that it lacks are staged (versions.ts).

import { type Page, parseItems, type ReadItems, type UnknownField } from '../../contract/page.ts';
import { identityOf, readRecords } from '../../contract/record.ts';
import { Sum } from '../../contract/sum.ts';
import {
  type Answer,
  type Ask,
  addressText,
  beginOf,
  type PageAddress,
  type Shown,
} from '../../proof/answers.ts';
import { outliersMax } from '../../proof/order.ts';
import { PageItems, type RecordNo, roomFor, type VersionNo } from '../../proof/page-items.ts';
import type { AbsentRow } from '../../proof/questions.ts';
import { type ReconciledRecord, reconcileVersions } from '../../proof/reconcile.ts';
import { ConnectionNames, comparable } from './connections.ts';
import { type ItemsRead, KnownItems, KnownPages, notKnown } from './known-items.ts';
import { FieldsSeen } from './list-facts.ts';
import { type ListSql, listSql } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import { Records } from './records.ts';
import { RejectedRecords } from './rejected.ts';
import { answersIn, type LoggedAnswer, type ResumeLog } from './resume-log.ts';
import { SharedKeys } from './shared-keys.ts';
import type { SyncState } from './sync-state.ts';

/** A page that was read in this run. */
interface ParsedPage extends Pick<ItemsRead, 'pieces'> {
  readonly items: PageItems;
  /** For each item the number of what it says of connections; null if one might have none. */
  readonly said: Uint16Array | null;
  /** Whether it was known as a whole. */
  readonly isKnown: boolean;
}

/** What the answers say of all records of a list. */
export interface Reconciliation {
  /** The records of which there is more than one version or row, or that an answer shows twice. */
  readonly reconciled: ReadonlyMap<RecordNo, ReconciledRecord>;
  /** The rows of these records that stay, or get another version. */
  readonly held: ReadonlySet<number>;
  /** How many records the list has by the answers, how many rows get another version, and how many are new. */
  readonly seen: number;
  readonly updated: number;
  readonly inserted: number;
}

/** What a run reads of a list: the answers that were entered, and what their pages say. */
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
  /** What earlier runs knew of the list. */
  readonly state: SyncState;
  readonly sharedKeys: SharedKeys;
  readonly #answers: Shown[] = [];
  #merged: readonly Shown[] = [];
  /** What follows from the answers so far; null if nobody has asked since the last one. */
  #reconciliation: Reconciliation | null = null;
  #absentRows: readonly AbsentRow[] | null = null;
  /** Answers of an earlier run with which this one goes on, the oldest first; and by their addresses, with numbers below those of this run. */
  older: readonly LoggedAnswer[] = [];
  readonly #olderAt = new Map<string, LoggedAnswer & Pick<Answer, 'asked'>>();
  /** Whether an answer of an earlier run is in use. */
  hasRecalled = false;
  readonly knownPages: KnownPages;
  readonly #known: KnownItems;
  /** The items of answers that are not entered yet, by the digests of their pages. */
  readonly #itemsRead = new Map<string, ItemsRead>();

  constructor(context: ListContext, state: SyncState) {
    const { list, sqlite } = context;
    this.context = context;
    this.state = state;
    this.sql = listSql(list);
    sqlite.exec(this.sql.create);
    this.sharedKeys = new SharedKeys(context, this.sql, state.sharedKeys);
    this.records = new Records(context, this.sql, this.sharedKeys);
    this.rejected = new RejectedRecords(context);
    this.names = new ConnectionNames(state);
    this.fields = new FieldsSeen(context);
    this.knownPages = new KnownPages(sqlite, list, state.pages);
    this.#known = new KnownItems(context, this.sql, this.knownPages);
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

  /** What follows from the answers so far. It is asked while pages come, and for the last time before the list is written. */
  get reconciliation(): Reconciliation {
    this.#reconciliation ??= this.#reconcile();
    return this.#reconciliation;
  }

  #reconcile(): Reconciliation {
    const { records } = this;
    const { staged, stagedRows } = records;
    const byMoment = [...this.#answers, ...this.#merged].sort((a, b) => a.asked - b.asked);
    const reconciled = reconcileVersions(
      byMoment.map(({ page }) => page),
      records.toReconcile,
      each => records.rowsOf(each),
      records.isOfIds,
    );
    const held = new Set<number>();
    let seen = records.shownSum.count + records.stagedSum.count;
    let [updated, inserted] = [stagedRows, staged.size - stagedRows];
    for (const [record, each] of reconciled) {
      for (const { row } of [...each.kept, ...each.edited]) held.add(row);
      seen += each.kept.length + each.edited.length + each.added.length - each.shown.size;
      updated += each.edited.length;
      inserted += each.added.length;
      if (!staged.has(record)) continue;
      if (records.rowsOf(record).length > 0) updated--;
      else inserted--;
    }
    return { reconciled, held, seen, updated, inserted };
  }

  /** Whether a row is in the list, as it is or as an older version of a record. */
  isListed(row: number): boolean {
    const { duplicates, shownRows, staged } = this.records;
    if (duplicates.get(row) !== undefined) return this.reconciliation.held.has(row);
    return shownRows.has(row) || staged.has(row);
  }

  /** The rows that no answer leaves room for, in the order of their ids. */
  get absentRows(): readonly AbsentRow[] {
    this.#absentRows ??= this.#findAbsent();
    return this.#absentRows;
  }

  #findAbsent(): readonly AbsentRow[] {
    const { table, sqlite, sumBefore, list } = this.context;
    const { shownRows } = this.records;
    if (sumBefore.count === 0 || shownRows.size >= table.count()) return [];
    const isAbsent = ({ id }: AbsentRow) => !this.isListed(id);
    // Ids of the service can be far apart.
    if (list.identity.by === 'id') return table.keys().filter(isAbsent);
    const absent: AbsentRow[] = [];
    const span = sqlite.prepare<[], { least: number; most: number }>(this.sql.idSpan).get();
    for (const { from, to } of span === undefined ? [] : shownRows.gaps(span.least, span.most))
      for (const row of table.keys(from, to)) if (isAbsent(row)) absent.push(row);
    return absent;
  }

  /** The absent rows but for those with the identity of a rejected record: nobody knows what is in it. */
  get rowsToDecide(): readonly AbsentRow[] {
    const { rejected, context, absentRows } = this;
    const isProtected = (row: number) =>
      rejected.count > 0 && rejected.hasIdentity(identityOf(context.list, context.table.read(row).record)); // guard: rejected records keep their rows
    return absentRows.filter(({ id }) => !isProtected(id));
  }

  /** The sum of the records that the list has by the answers, and of those among them that rows get. */
  sums(): { listed: Sum; written: Sum } {
    const { records, context, reconciliation } = this;
    const listed = records.shownSum.plus(records.stagedSum);
    const written = records.stagedSum.plus(new Sum());
    for (const [record, { kept, edited, added, shown }] of reconciliation.reconciled) {
      const ofRows = new Map<VersionNo, Uint8Array>();
      for (const { row, version } of records.rowsOf(record))
        ofRows.set(version, Buffer.from(context.table.read(row).content, 'hex'));
      const contentOf = (version: VersionNo) => ofRows.get(version) ?? records.texts.bytesOf(version);
      for (const version of shown) {
        listed.subtract(contentOf(version));
        if (!ofRows.has(version)) written.subtract(contentOf(version));
      }
      for (const { version } of kept) listed.add(contentOf(version));
      for (const version of [...edited.map(each => each.version), ...added]) {
        listed.add(contentOf(version));
        written.add(contentOf(version));
      }
    }
    return { listed, written };
  }

  #forgetConclusions(): void {
    [this.#reconciliation, this.#absentRows] = [null, null];
  }

  /** Takes the page of an answer, with the moment of the logical clock at which it was asked for, and returns what the proof needs of it. */
  enter(page: Page, address: PageAddress, asked: number): Pick<Answer, 'page' | 'oldestNewKeys'> {
    for (const member of page.otherMembers)
      this.answerMembers.set(`${member.jsonType} ${member.field}`, member);
    const { digest, bytes } = page;
    const read = () => this.#itemsRead.get(digest) ?? notKnown(page.items ?? parseItems(bytes), bytes);
    const newKeys = this.pages.has(digest) ? [] : this.#enterItems(digest, read(), address);
    this.#itemsRead.delete(digest);
    // One that can't be read is older than all others.
    const oldest = newKeys.map(comparable).sort((a, b) => a - b);
    return { page: this.#countAsAnswer(digest, asked), oldestNewKeys: oldest.slice(0, outliersMax + 1) };
  }

  /** Goes on with the answers of an earlier run that still count if the list has this first page. */
  goOnAfter(first: Pick<ResumeLog, 'firstPageNo' | 'pageSize'>, nowMs: number): void {
    this.older = answersIn(this.state.resumeLog, first, nowMs);
    for (const [at, answer] of this.older.entries())
      this.#olderAt.set(addressText(answer), { ...answer, asked: at - this.older.length });
  }

  /** The answer of an earlier run to a request, as if it had come before all others; null if there is none, or if its rows have changed. */
  recall(ask: Ask): Answer | null {
    const older = this.#olderAt.get(addressText(ask));
    if (older === undefined) return null;
    const { asked, at, total, digest } = older;
    const read = this.pages.has(digest) ? undefined : this.#known.page(digest);
    if (read === null) return null;
    if (read !== undefined) this.#enterItems(digest, read, older);
    this.hasRecalled = true;
    const page = this.#countAsAnswer(digest, asked);
    const said = { total, page, pageCount: null, wrong: null, oldestNewKeys: [] };
    return { ...ask, asked, arrived: asked, at, isRecalled: true, ...said };
  }

  /** Lets a page whose records have numbers count as an answer. */
  #countAsAnswer(digest: string, asked: number): PageItems {
    const { items: page } = this.pages.get(digest) as ParsedPage;
    this.#answers.push({ asked, page });
    this.#forgetConclusions();
    return page;
  }

  /** Takes records of several pages that count as one answer, in the place of those that did before. */
  countAsOne(merged: readonly Shown[]): void {
    this.#merged = merged;
    for (const { page } of merged) for (const record of page.records) this.records.toReconcile.add(record);
    this.#forgetConclusions();
  }

  /** Parses the items of an answer, but for those that are known. The service asks for it when an answer comes; what is read waits until the page is entered. */
  readonly readItems: ReadItems = (bytes, digest) => {
    if (this.pages.has(digest)) return { items: null, unknown: Buffer.alloc(0) };
    const read = this.#known.page(digest) ?? this.#known.read(bytes);
    this.#itemsRead.set(digest, read);
    return read;
  };

  /** Makes records of a page's items, and numbers them. Returns the keys of what the mirror lacks. */
  #enterItems(digest: string, read: ItemsRead, address: PageAddress): number[] {
    const { list, sqlite, ignored } = this.context;
    const { items: all, keys, said, known, pieces } = read;
    const { records, rejections } = readRecords(list, all ?? [], ignored);
    const numbers = roomFor(keys.length);
    // In a list with ids nobody knows how old a name is.
    const timeOf = (key: number) => (list.identity.by === 'id' ? Number.NEGATIVE_INFINITY : comparable(key));
    for (const { place, rows } of known)
      for (let at = place; at < place + rows.length; at++)
        this.names.enterAgain(said[at] as number, timeOf(keys[at] as number));
    for (const { position, key, mentions } of records) {
      keys[position] = key;
      said[position] = this.names.enter(mentions, timeOf(key));
    }
    for (const { position, key, content } of this.rejected.add(rejections, beginOf(address))) {
      keys[position] = key;
      this.records.numberRejected(key, content, numbers, position);
    }
    const enter = () => this.records.numberAndStage(read, records, numbers);
    const newKeys = records.length === 0 ? enter() : sqlite.transaction(enter)();
    this.fields.add(all ?? [], records, numbers);
    const items = new PageItems(digest, keys, numbers, list.identity.by);
    const parsed = { items, said: this.names.isFull ? null : said, pieces, isKnown: all === null };
    this.pages.set(digest, parsed);
    return newKeys;
  }

  end(): void {
    this.context.sqlite.exec(this.sql.drop);
  }
}
