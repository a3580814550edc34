import type Database from 'better-sqlite3';
import { type ListDefinition, type Scalar, timeIndexOf } from '../../contract/lists.ts';
import type { Page } from '../../contract/page.ts';
import { readContent } from '../../contract/page-content.ts';
import { type MirrorRecord, readRecords } from '../../contract/record.ts';
import { identityOf, keyOf } from '../../contract/record-key.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { ContentNumbers } from '../../proof/numbers.ts';
import { straysMax } from '../../proof/order.ts';
import type { RepeatedRecord, UnshownRow } from '../../proof/reading.ts';
import { type Answer, type PageAddress, PageItems } from '../../proof/window.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import type { ListTable, NewRecord } from '../tables/list-table.ts';
import { IdSet } from './id-set.ts';
import type { KnownPages, ParsedPage, RecalledPage } from './known-pages.ts';
import { rowsPerInsert, stagingSql } from './list-sql.ts';
import { NameBook, type NameEntry, offer, PageNames } from './names.ts';
import { RejectedRecords } from './rejected.ts';

type StagedRow = [
  n: number,
  content: string,
  arrays: string | null,
  extra: string | null,
  ...scalars: Scalar[],
];

/** The staged record of a number. */
export interface StagedRecord extends NewRecord {
  readonly n: number;
}

/**
 * What a run reads of a list, beside the list's own table: the rows that answers have shown and, in a TEMP table, the records that the
 * list does not have. No write transaction of the mirror is open meanwhile.
 */
export class Stage {
  readonly table: ListTable;
  readonly list: ListDefinition;
  readonly shown = new IdSet();
  /** The sum of the rows that answers have shown, by what was read. */
  readonly shownSum = new Sum();
  /** The sum of the staged records, as often as the list has each. */
  readonly stagedSum = new Sum();
  readonly rejected: RejectedRecords;
  readonly pages = new Map<string, ParsedPage>();
  readonly sql: ReturnType<typeof stagingSql>;
  readonly sqlite: Database.Database;
  readonly #known: KnownPages;
  readonly #numbers = new ContentNumbers();
  /** How many rows more than the mirror has the fullest page shows of a content, by its number, if more than one. */
  readonly copies = new Map<number, number>();
  /** Staged ids, in a list with ids. */
  readonly #ids = new IdSet();
  #updates = 0;
  #answers = 0;
  #newKeys: number[] = [];
  readonly #rounds = [new ConnectionClaims()];
  readonly book: NameBook;
  readonly #timeAt: number;
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #remove: Database.Statement<[n: number]>;
  readonly #content: Database.Statement<[n: number], string>;
  readonly #read: Database.Statement<[n: number], StagedRow>;
  readonly #isEmpty: boolean;
  #unshown: UnshownRow[] | null = null;

  /**
   * @param known the pages that are remembered.
   * @param names the names that these pages give to connections.
   * @param isEmpty whether the list has no rows.
   */
  constructor(
    sqlite: Database.Database,
    table: ListTable,
    known: KnownPages,
    names: readonly NameEntry[],
    isEmpty: boolean,
  ) {
    this.sqlite = sqlite;
    this.table = table;
    this.list = table.list;
    this.rejected = new RejectedRecords(table.list);
    this.#known = known;
    this.book = new NameBook(names);
    this.#timeAt = timeIndexOf(table.list);
    this.#isEmpty = isEmpty;
    this.sql = stagingSql(table.list);
    sqlite.exec(this.sql.begin);
    this.#insert = sqlite.prepare(this.sql.insert);
    this.#insertMany = sqlite.prepare(this.sql.insertMany);
    this.#remove = sqlite.prepare(this.sql.remove);
    this.#content = sqlite.prepare<[number], string>(this.sql.content).pluck();
    this.#read = sqlite.prepare<[number], StagedRow>(this.sql.read).raw();
  }

  get isOfIds(): boolean {
    return this.list.identity.by === 'id';
  }

  /** How many records the run has seen, each once. */
  get seenCount(): number {
    return this.shownSum.count + this.stagedSum.count + this.rejected.count;
  }

  /** How many records the list did not have: staged ones that are no new version of an id. */
  get addedCount(): number {
    return this.stagedSum.count - this.#updates;
  }

  get #round(): ConnectionClaims {
    return this.#rounds.at(-1) as ConnectionClaims;
  }

  beginRound(): void {
    this.#rounds.push(new ConnectionClaims());
  }

  /** The claims of the answers about connections; if both are equally new, the later round wins. */
  claims(): ConnectionClaims {
    const claims = new ConnectionClaims();
    for (const round of this.#rounds) claims.join(round);
    return claims;
  }

  /** Whether a page needs no parsing: it came before in this run, or it is remembered and its rows still have its contents. */
  isKnown(digest: string): boolean {
    return this.pages.has(digest) || this.#recall(digest);
  }

  /** Reads a page, and returns what the proof needs of it. */
  read(page: Page, address: PageAddress): Pick<Answer, 'page' | 'oldestNewKeys'> {
    const digest = page.itemsDigest;
    const known = this.pages.get(digest);
    this.#newKeys = [];
    const parsed = known ?? this.#parse(page, address);
    parsed.last = ++this.#answers;
    if (parsed.first === 0) parsed.first = parsed.last;
    this.pages.set(digest, parsed);
    return { page: parsed.items, oldestNewKeys: oldestOf(this.#newKeys) };
  }

  #parse(page: Page, { index, size }: PageAddress): ParsedPage {
    const content = page.content ?? readContent(page.items);
    const read = readRecords(this.list, content);
    const { records, positions, rejections } = read;
    const rejected = this.rejected.add(rejections, index * size);
    const keys = new Float64Array(content.count);
    // If no record was rejected, these are the contents of all items in their order.
    const contents = rejected.length === 0 ? read.contents : new Uint8Array(content.count * contentBytes);
    const names = new PageNames(this.book);
    for (const [at, record] of records.entries()) {
      const position = positions[at] as number;
      keys[position] = keyOf(this.list, record, this.#timeAt);
      if (rejected.length > 0) contents.set(record.content, position * contentBytes);
      const time = this.#timeAt < 0 ? null : (record.scalars[this.#timeAt] as string | null);
      for (const mention of record.mentions) names.add(mention, position, time);
    }
    for (const [at, { key, content: hash }] of rejected.entries()) {
      const position = rejections[at]?.position as number;
      keys[position] = key;
      contents.set(hash, position * contentBytes);
    }
    const rows = new Float64Array(content.count).fill(Number.NaN);
    const found = this.#isEmpty ? [] : this.table.findAll(records);
    const places = { rows, positions, keys };
    this.#newKeys = [];
    const write = this.sqlite.transaction(() =>
      this.isOfIds ? this.#stageIds(records, found, places) : this.#stageContents(records, found, places),
    );
    write();
    const items = new PageItems(page.itemsDigest, keys, contents, this.list.identity.by);
    return { items, rows, names: names.offerTo(this.#round), first: 0, last: 0 };
  }

  /** Shows the rows that match records with ids, and stages the others. If an id is twice on a page, the first one counts. */
  #stageIds(
    records: readonly MirrorRecord[],
    found: readonly (number | undefined)[],
    { rows, positions }: Places,
  ): void {
    const seen = new Set<number>();
    for (const [at, record] of records.entries()) {
      const id = record.id as number;
      if (seen.has(id)) continue;
      seen.add(id);
      const isThere = found[at] !== undefined;
      rows[positions[at] as number] = id;
      if (isThere) {
        this.#unstageId(id);
        this.show(id, record.content);
        continue;
      }
      this.#newKeys.push(id);
      const isUpdate = !this.#isEmpty && this.table.has(id);
      if (isUpdate && this.shown.delete(id))
        this.shownSum.subtract(Buffer.from(this.table.read(id).content, 'hex'));
      this.#unstageId(id);
      this.#ids.add(id);
      if (isUpdate) this.#updates++;
      this.stagedSum.add(record.content);
      this.#insert.run(id, ...this.#valuesOf(record));
    }
  }

  #unstageId(id: number): void {
    if (!this.#ids.delete(id)) return;
    this.stagedSum.subtractHex(this.contentOf(id));
    if (!this.#isEmpty && this.table.has(id)) this.#updates--;
    this.#remove.run(id);
  }

  /** For each content, shows as many rows as the page has records with it, and stages those that are more. */
  #stageContents(
    records: readonly MirrorRecord[],
    found: readonly (number | undefined)[],
    { rows, positions, keys }: Places,
  ): void {
    const onPage = new Set<number>();
    const others = new Map<number, number[]>();
    const more = new Map<number, number>();
    let values: (Scalar | Buffer)[] = [];
    const width = this.sql.width;
    for (const [at, record] of records.entries()) {
      let row = found[at];
      if (row !== undefined && onPage.has(row)) {
        const first = row;
        if (!others.has(first)) others.set(first, this.table.othersOf(record, first, records.length));
        row = others.get(first)?.shift();
      }
      if (row !== undefined) {
        onPage.add(row);
        this.show(row, record.content);
        rows[positions[at] as number] = row;
        continue;
      }
      this.#newKeys.push(keys[positions[at] as number] as number);
      const before = this.#numbers.count;
      const number = this.#numbers.numberOf(record.content);
      if (number === before) {
        values.push(
          number + 1,
          ...record.scalars,
          ...this.table.timesOf(record),
          record.extra,
          record.content,
        );
        if (record.arrays.length > 0) values.push(JSON.stringify(record.arrays));
        if (values.length === width * rowsPerInsert) {
          this.#insertMany.run(values);
          values = [];
        }
      }
      const copies = (more.get(number) ?? 0) + 1;
      more.set(number, copies);
      const most = number === before ? 0 : (this.copies.get(number) ?? 1);
      if (copies > most) {
        if (copies > 1) this.copies.set(number, copies);
        this.stagedSum.add(record.content);
      }
      if (copies === 1) rows[positions[at] as number] = -(number + 1);
    }
    for (let at = 0; at < values.length; at += width) this.#insert.run(values.slice(at, at + width));
  }

  #valuesOf(record: NewRecord): (Scalar | Buffer)[] {
    const { extra, content, arrays } = record;
    return [
      ...record.scalars,
      ...this.table.timesOf(record),
      extra,
      content,
      ...(arrays.length > 0 ? [JSON.stringify(arrays)] : []),
    ];
  }

  /** Notes that a row is shown. */
  show(row: number, content: Uint8Array, offset = 0): void {
    if (this.shown.add(row)) this.shownSum.add(content, offset);
  }

  /** Whether a row has the identity of a rejected record: nobody knows what is the matter with it. */
  isProtected(row: number): boolean {
    const identities = new Set(this.rejected.all.map(({ identity }) => identity));
    return identities.size > 0 && identities.has(identityOf(this.list, this.table.read(row).record)); // guard: rejected records keep their rows
  }

  isStagedId(id: number): boolean {
    return this.#ids.has(id);
  }

  /** A staged record's content, as 32 hexadecimal digits. */
  contentOf(n: number): string {
    return this.#content.get(n) as string;
  }

  /** A staged record. */
  staged(n: number): StagedRecord {
    const row = this.#read.get(n);
    if (row === undefined) throw new Error(`No record ${n} is staged.`);
    const [, content, arrays, extra, ...scalars] = row;
    const id = this.isOfIds ? n : null;
    return {
      n,
      id,
      scalars,
      extra,
      content: Buffer.from(content, 'hex'),
      arrays: arrays === null ? [] : JSON.parse(arrays),
    };
  }

  /** All staged records, by their numbers. */
  *all(): Generator<StagedRecord> {
    for (const n of this.sqlite.prepare<[], number>(this.sql.all).pluck().all()) yield this.staged(n);
  }

  /** The greatest number of a staged record. */
  get numbered(): number {
    return this.#numbers.count;
  }

  /** Enters a remembered page, as if it had been parsed now; false if there is none. */
  #recall(digest: string): boolean {
    const page = this.#known.recall(digest);
    const isNamed = ({ names }: RecalledPage) =>
      names.every((number, place) => place % 2 === 1 || number < this.book.entries.length);
    if (page === null || !isNamed(page)) return false;
    for (let pair = 0; pair < page.names.length; pair += 2) {
      const time = page.times[page.names[pair + 1] as number] ?? null;
      offer(this.#round, this.book, page.names[pair] as number, time);
    }
    const { contents, count } = page.items;
    for (let at = 0; at < count; at++) this.show(page.rows[at] as number, contents, at * contentBytes);
    this.pages.set(digest, page);
    return true;
  }

  /** Shows the list's number of rows for each record that is on several pages, and stages the missing ones. */
  settleRepeats(repeated: readonly RepeatedRecord[]): void {
    if (repeated.length === 0) return;
    const rowsOf = new Map(
      repeated.map(({ content }) => [Buffer.from(content).toString('hex'), [] as number[]]),
    );
    for (const { id, content } of this.table.keysAndContents()) rowsOf.get(content)?.push(id);
    for (const { content, count } of repeated) {
      const rows = rowsOf.get(Buffer.from(content).toString('hex')) ?? [];
      for (const row of rows.slice(0, count)) this.show(row, content);
      const more = count - Math.min(count, rows.length);
      let number = this.#numbers.find(content);
      const [first] = rows;
      // A rejected record has no row and is not staged.
      if (more === 0 || (number < 0 && first === undefined)) continue;
      let most = this.copies.get(number) ?? 1;
      if (number < 0) {
        number = this.#numbers.numberOf(content);
        this.#insert.run(number + 1, ...this.#valuesOf(this.table.recordOf(first as number)));
        most = 0;
      }
      if (more > 1) this.copies.set(number, more);
      for (let copy = most; copy < more; copy++) this.stagedSum.add(content);
    }
  }

  /** The rows that no answer has shown, in the order of their ids. */
  unshown(): readonly UnshownRow[] {
    if (this.#isEmpty) return [];
    if (this.#unshown === null) {
      this.#unshown = [];
      const count = this.table.count();
      if (this.shown.size < count) for (const row of this.#gaps()) this.#unshown.push(row);
    } else this.#unshown = this.#unshown.filter(({ id }) => !this.shown.has(id));
    return this.isOfIds ? this.#unshown.filter(({ id }) => !this.#ids.has(id)) : this.#unshown;
  }

  *#gaps(): Generator<UnshownRow> {
    // Ids of the service can be far apart.
    if (this.isOfIds || this.shown.size < 1000) {
      for (const { id, key } of this.table.keys()) if (!this.shown.has(id)) yield { id, key };
      return;
    }
    const [least, most] = this.sqlite.prepare<[], number[]>(this.sql.idSpan).raw().get() as [number, number];
    for (
      let from = this.shown.firstMissing(least, most);
      from !== null;
      from = this.shown.firstMissing(from, most)
    ) {
      let to = from;
      while (to < most && !this.shown.has(to + 1)) to++;
      yield* this.table.keysBetween(from, to);
      from = to + 1;
    }
  }

  /** Drops the staging tables. */
  end(): void {
    this.sqlite.exec(this.sql.end);
  }
}

/** The oldest of some keys; one that can't be read is older than all others. */
function oldestOf(keys: readonly number[]): number[] {
  return keys
    .map(key => (Number.isNaN(key) ? Number.NEGATIVE_INFINITY : key))
    .sort((a, b) => a - b)
    .slice(0, straysMax + 1);
}

interface Places {
  readonly rows: Float64Array;
  readonly positions: readonly number[];
  readonly keys: Float64Array;
}
