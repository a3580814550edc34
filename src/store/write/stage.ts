import type Database from 'better-sqlite3';
import type { ListDefinition, Scalar } from '../../contract/lists.ts';
import { type Page, parseItems, type UnknownField } from '../../contract/page.ts';
import { type MirrorRecord, readRecords } from '../../contract/record.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { ContentNumbers } from '../../proof/numbers.ts';
import { straysMax } from '../../proof/order.ts';
import type { RepeatedRecord } from '../../proof/reading.ts';
import { type Answer, type PageAddress, PageItems } from '../../proof/window.ts';
import type { ListTable } from '../tables/list-table.ts';
import { comparable, SaidNames } from './connections.ts';
import { IdSet } from './id-set.ts';
import { type ListSql, listSql, rowsPerInsert } from './list-sql.ts';
import { type ListMemory, type ListState, nothingLearnt, type ParsedPage } from './memory.ts';
import type { ListContext } from './mirror.ts';
import { RejectedRecords } from './rejected.ts';

/** What a run reads of a list: the rows that answers have shown and, in a TEMP table, the records that the list does not have. */
export class Stage {
  readonly table: ListTable;
  readonly list: ListDefinition;
  readonly isOfIds: boolean;
  readonly sqlite: Database.Database;
  readonly sql: ListSql;
  readonly shown = new IdSet();
  /** The sum of the rows that answers have shown, by what was read. */
  readonly shownSum = new Sum();
  /** The sum of the staged records, as often as the list has each. */
  readonly stagedSum = new Sum();
  readonly rejected: RejectedRecords;
  readonly pages = new Map<string, ParsedPage>();
  /** What the answers have beside `items` and `pagination`, by name and type. */
  readonly answerMembers = new Map<string, UnknownField>();
  readonly names: SaidNames;
  /** Staged ids, in a list with ids. */
  readonly ids = new IdSet();
  /** How many rows more than the mirror has the fullest page shows of a content, by its number from 1, if more than one. */
  readonly copies = new Map<number, number>();
  readonly isEmpty: boolean;
  /** The pages that are remembered; null if none counts. */
  readonly #memory: ListMemory | null;
  readonly #numbers = new ContentNumbers();
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #unstage: Database.Statement<[n: number]>;
  readonly #content: Database.Statement<[n: number], string>;
  #answers = 0;
  #newKeys: number[] = [];

  constructor({ list, table, file: { sqlite }, memory, sum }: ListContext, state: ListState) {
    this.sqlite = sqlite;
    this.table = table;
    this.list = list;
    this.isOfIds = list.identity.by === 'id';
    this.isEmpty = sum.count === 0;
    this.rejected = new RejectedRecords(list);
    this.names = new SaidNames(state.names);
    this.#memory = state === nothingLearnt ? null : memory;
    this.sql = listSql(list);
    sqlite.exec(this.sql.create);
    this.#insert = sqlite.prepare(this.sql.insert);
    this.#insertMany = sqlite.prepare(this.sql.insertMany);
    this.#unstage = sqlite.prepare(this.sql.unstage);
    this.#content = sqlite.prepare<[number], string>(this.sql.content).pluck();
  }

  /** How many records the run has seen, each once. */
  get seenCount(): number {
    return this.shownSum.count + this.stagedSum.count + this.rejected.count;
  }

  /** How many records the list did not have: staged ones that are no new version of an id. */
  get addedCount(): number {
    const updates = this.isOfIds ? this.sqlite.prepare(this.sql.editsOfIds).all().length : 0;
    return this.stagedSum.count - updates;
  }

  /** Whether a page needs no parsing: it came before in this run, or it is remembered and its rows still have its contents. */
  isKnown(digest: string): boolean {
    return this.pages.has(digest) || this.#recall(digest);
  }

  /** Reads a page, and returns what the proof needs of it. */
  read(page: Page, address: PageAddress): Pick<Answer, 'page' | 'oldestNewKeys'> {
    const { digest } = page;
    for (const member of page.otherMembers)
      this.answerMembers.set(`${member.jsonType} ${member.field}`, member);
    this.#newKeys = [];
    const parsed = this.pages.get(digest) ?? this.#parse(page, address);
    parsed.last = ++this.#answers;
    if (parsed.first === 0) parsed.first = parsed.last;
    this.pages.set(digest, parsed);
    return { page: parsed.items, oldestNewKeys: oldestOf(this.#newKeys) };
  }

  #parse(page: Page, { index, size }: PageAddress): ParsedPage {
    const all = page.items ?? parseItems(page.bytes);
    const { records, rejections, contents } = readRecords(this.list, all);
    const rejected = this.rejected.add(rejections, index * size);
    const keys = new Float64Array(all.length);
    for (const { position, key } of records) keys[position] = key;
    for (const [at, { key, content: hash }] of rejected.entries()) {
      const position = rejections[at]?.position as number;
      keys[position] = key;
      contents.set(hash, position * contentBytes);
    }
    const rows = new Float64Array(all.length).fill(Number.NaN);
    const found = this.isEmpty ? [] : this.table.findAll(records);
    this.sqlite.transaction(() =>
      this.isOfIds ? this.#stageIds(records, found, rows) : this.#stageContents(records, found, rows),
    )();
    const names = this.names.read(records, this.#timesOf(keys));
    const items = new PageItems(page.digest, keys, contents, this.list.identity.by);
    return { items, rows, names, first: 0, last: 0 };
  }

  /** Names are as old as their records; in a list with ids nobody knows how old. */
  #timesOf(keys: Float64Array): (place: number) => number {
    return this.isOfIds ? () => Number.NEGATIVE_INFINITY : place => comparable(keys[place] as number);
  }

  /** Shows the rows that match records with ids, and stages the others. If an id is twice on a page, the first one counts. */
  #stageIds(
    records: readonly MirrorRecord[],
    found: readonly (number | undefined)[],
    rows: Float64Array,
  ): void {
    const seen = new Set<number>();
    for (const [at, record] of records.entries()) {
      const id = record.id as number;
      if (seen.has(id)) continue;
      seen.add(id);
      rows[record.position] = id;
      if (this.ids.delete(id)) {
        this.stagedSum.subtract(this.contentOf(id));
        this.#unstage.run(id);
      }
      if (found[at] !== undefined) {
        this.show(id, record.content);
        continue;
      }
      this.#newKeys.push(id);
      if (this.shown.delete(id)) this.shownSum.subtract(Buffer.from(this.table.read(id).content, 'hex'));
      this.ids.add(id);
      this.stagedSum.add(record.content);
      this.#insert.run(this.#valuesOf(id, record));
    }
  }

  /** For each content, shows as many rows as the page has records with it, and stages those that are more. */
  #stageContents(
    records: readonly MirrorRecord[],
    found: readonly (number | undefined)[],
    rows: Float64Array,
  ): void {
    const onPage = new Set<number>();
    const others = new Map<number, number[]>();
    const more = new Map<number, number>();
    const values: (Scalar | Buffer)[] = [];
    for (const [at, record] of records.entries()) {
      const { position } = record;
      let row = found[at];
      if (row !== undefined && onPage.has(row)) {
        const first = row;
        if (!others.has(first)) others.set(first, this.table.othersOf(record, first, records.length));
        row = others.get(first)?.shift();
      }
      if (row !== undefined) {
        onPage.add(row);
        this.show(row, record.content);
        rows[position] = row;
        continue;
      }
      this.#newKeys.push(record.key);
      const before = this.#numbers.count;
      const n = this.#numbers.numberOf(record.content) + 1;
      if (n > before) values.push(...this.#valuesOf(n, record));
      const copies = (more.get(n) ?? 0) + 1;
      more.set(n, copies);
      this.#noteCopies(n, copies, n > before ? 0 : 1, record.content);
      if (copies === 1) rows[position] = -n;
    }
    const many = this.sql.width * rowsPerInsert;
    let at = 0;
    for (; at + many <= values.length; at += many) this.#insertMany.run(values.slice(at, at + many));
    for (; at < values.length; at += this.sql.width) this.#insert.run(values.slice(at, at + this.sql.width));
  }

  /** Notes that a page has so many records of a content more than the mirror. */
  #noteCopies(n: number, copies: number, atLeast: number, content: Uint8Array): void {
    for (let most = this.copies.get(n) ?? atLeast; most < copies; most++) this.stagedSum.add(content);
    if (copies > Math.max(1, this.copies.get(n) ?? 1)) this.copies.set(n, copies);
  }

  #valuesOf(
    n: number,
    { scalars, key, extra, content, arrays }: Omit<MirrorRecord, 'position' | 'mentions'>,
  ): (Scalar | Buffer)[] {
    const values = [n, ...scalars, ...(this.isOfIds ? [] : [key]), extra, content];
    if (this.sql.hasArrays) values.push(JSON.stringify(arrays));
    return values;
  }

  /** Notes that a row is shown. */
  show(row: number, content: Uint8Array, offset = 0): void {
    if (this.shown.add(row)) this.shownSum.add(content, offset);
  }

  /** A staged record's content, as 32 hexadecimal digits. */
  contentOf(n: number): string {
    return this.#content.get(n) as string;
  }

  /** Enters a remembered page, as if it had been parsed now; false if there is none. */
  #recall(digest: string): boolean {
    const page = this.#memory?.recall(digest) ?? null;
    if (page === null) return false;
    const { contents, count, keys } = page.items;
    this.names.enter(page.names, this.#timesOf(keys));
    for (let at = 0; at < count; at++) this.show(page.rows[at] as number, contents, at * contentBytes);
    this.pages.set(digest, page);
    return true;
  }

  /** Shows the list's number of rows for each record that is on several pages, and stages the missing ones. */
  settleRepeats(repeated: readonly RepeatedRecord[]): void {
    if (repeated.length === 0) return;
    const rowsOf = new Map(repeated.map(({ content }) => [hexOf(content), [] as number[]]));
    const all = this.sqlite.prepare<[], [number, string]>(this.sql.contents).raw();
    for (const [id, content] of all.iterate()) rowsOf.get(content)?.push(id);
    for (const { content, count } of repeated) {
      const rows = rowsOf.get(hexOf(content)) ?? [];
      for (const row of rows.slice(0, count)) this.show(row, content);
      const more = count - Math.min(count, rows.length);
      const [first] = rows;
      const isStaged = this.#numbers.find(content) >= 0;
      // A rejected record has no row and is not staged.
      if (more === 0 || !(isStaged || first !== undefined)) continue;
      const n = this.#numbers.numberOf(content) + 1;
      if (!isStaged) {
        const row = first as number;
        const { record } = this.table.read(row);
        const key = this.table.keys(row, row)[0]?.key as number;
        this.#insert.run(this.#valuesOf(n, { ...record, key, content: Buffer.from(content) }));
      }
      this.#noteCopies(n, more, isStaged ? 1 : 0, content);
    }
  }

  /** Lets statements find rows that no answer has shown. */
  setUnshown(rows: readonly { readonly id: number }[]): void {
    this.sqlite.exec('DELETE FROM temp.unshown');
    this.sqlite.prepare(this.sql.setUnshown).run(JSON.stringify(rows.map(({ id }) => id)));
  }

  /** Drops the staging tables. */
  end(): void {
    this.sqlite.exec(this.sql.drop);
  }
}

function hexOf(content: Uint8Array): string {
  return Buffer.from(content).toString('hex');
}

/** The oldest of some keys; one that can't be read is older than all others. */
function oldestOf(keys: readonly number[]): number[] {
  return keys
    .map(comparable)
    .sort((a, b) => a - b)
    .slice(0, straysMax + 1);
}
