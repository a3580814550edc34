import type Database from 'better-sqlite3';
import type { Scalar } from '../../contract/lists.ts';
import { type Page, parseItems, type UnknownField } from '../../contract/page.ts';
import { type MirrorRecord, readRecords } from '../../contract/record.ts';
import { contentBytes, hash16Hex, Sum } from '../../contract/sum.ts';
import { ContentNumbers } from '../../proof/numbers.ts';
import { straysMax } from '../../proof/order.ts';
import type { RepeatedRecord } from '../../proof/reading.ts';
import { type Answer, type PageAddress, PageItems } from '../../proof/window.ts';
import { comparable, SaidNames } from './connections.ts';
import { IdSet } from './id-set.ts';
import { type ListSql, listSql, rowsPerInsert } from './list-sql.ts';
import type { ListState, ParsedPage } from './memory.ts';
import type { ListContext } from './mirror.ts';
import { RejectedRecords } from './rejected.ts';

/** What a run reads of a list: the rows that answers have shown and, in a TEMP table, the records that the list does not have. */
export class Stage {
  readonly context: ListContext;
  readonly isOfIds: boolean;
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
  /** What is known of the list from before. */
  readonly before: ListState;
  readonly #numbers = new ContentNumbers();
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #content: Database.Statement<[n: number], string>;
  readonly #rowsOf: Database.Statement<
    [ranges: string],
    [contents: string | null, keys: string, rows: string]
  >;
  #answers = 0;
  #newKeys: number[] = [];

  constructor(context: ListContext, before: ListState) {
    const { list, sqlite } = context;
    this.context = context;
    this.isOfIds = list.identity.by === 'id';
    this.rejected = new RejectedRecords(list);
    this.before = before;
    this.names = new SaidNames(before.names);
    this.sql = listSql(list);
    sqlite.exec(this.sql.create);
    this.#insert = sqlite.prepare(this.sql.insert);
    this.#insertMany = sqlite.prepare(this.sql.insertMany);
    this.#content = sqlite.prepare<[number], string>(this.sql.content).pluck();
    this.#rowsOf = sqlite.prepare<[string], [string | null, string, string]>(this.sql.known).raw();
  }

  /** How many records the run has seen, each once. */
  get seenCount(): number {
    return this.shownSum.count + this.stagedSum.count + this.rejected.count;
  }

  /** How many records the list did not have: staged ones that are no new version of an id. */
  get addedCount(): number {
    const updates = this.isOfIds ? this.context.sqlite.prepare(this.sql.editsOfIds).all().length : 0;
    return this.stagedSum.count - updates;
  }

  /** Reads a page, and returns what the proof needs of it. */
  read(page: Page, address: PageAddress): Pick<Answer, 'page' | 'oldestNewKeys'> {
    for (const member of page.otherMembers)
      this.answerMembers.set(`${member.jsonType} ${member.field}`, member);
    this.#newKeys = [];
    const parsed = this.pages.get(page.digest) ?? this.#parse(page, address);
    parsed.last = ++this.#answers;
    if (parsed.first === 0) parsed.first = parsed.last;
    this.pages.set(page.digest, parsed);
    // One that can't be read is older than all others.
    const oldest = this.#newKeys.map(comparable).sort((a, b) => a - b);
    return { page: parsed.items, oldestNewKeys: oldest.slice(0, straysMax + 1) };
  }

  #parse(page: Page, { index, size }: PageAddress): ParsedPage {
    const { list, sqlite, sum, table } = this.context;
    const all = page.items ?? parseItems(page.bytes);
    const { records, rejections, contents } = readRecords(list, all);
    const keys = new Float64Array(all.length);
    for (const { position, key } of records) keys[position] = key;
    for (const { position, key, content } of this.rejected.add(rejections, index * size)) {
      keys[position] = key;
      contents.set(content, position * contentBytes);
    }
    const rows = new Float64Array(all.length).fill(Number.NaN);
    const found = sum.count === 0 ? [] : table.findAll(records);
    sqlite.transaction(() =>
      this.isOfIds ? this.#stageIds(records, found, rows) : this.#stageContents(records, found, rows),
    )();
    const names = this.names.read(records, this.#timesOf(keys));
    const items = new PageItems(page.digest, keys, contents, list.identity.by);
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
    const { sqlite, table } = this.context;
    const seen = new Set<number>();
    for (const [at, record] of records.entries()) {
      const id = record.id as number;
      if (seen.has(id)) continue;
      seen.add(id);
      rows[record.position] = id;
      if (this.ids.delete(id)) {
        this.stagedSum.subtract(this.contentOf(id));
        sqlite.prepare(this.sql.unstage).run(id);
      }
      if (found[at] !== undefined) {
        this.#show(id, record.content);
        continue;
      }
      this.#newKeys.push(id);
      if (this.shown.delete(id)) this.shownSum.subtract(table.read(id).content);
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
      const { position, key, content } = record;
      let row = found[at];
      if (row !== undefined && onPage.has(row)) {
        const rest = others.get(row) ?? this.context.table.othersOf(record, row, records.length);
        others.set(row, rest);
        row = rest.shift();
      }
      if (row !== undefined) {
        onPage.add(row);
        this.#show(row, content);
        rows[position] = row;
        continue;
      }
      this.#newKeys.push(key);
      const before = this.#numbers.count;
      const n = this.#numbers.numberOf(content) + 1;
      if (n > before) values.push(...this.#valuesOf(n, record));
      const copies = (more.get(n) ?? 0) + 1;
      more.set(n, copies);
      this.#noteCopies(n, copies, n > before ? 0 : 1, content);
      if (copies === 1) rows[position] = -n;
    }
    const many = this.sql.width * rowsPerInsert;
    let at = 0;
    for (; at + many <= values.length; at += many) this.#insertMany.run(values.slice(at, at + many));
    for (; at < values.length; at += this.sql.width) this.#insert.run(values.slice(at, at + this.sql.width));
  }

  /** Notes that a page has so many records of a content more than the mirror. */
  #noteCopies(n: number, copies: number, atLeast: number, content: Uint8Array): void {
    const known = this.copies.get(n);
    for (let most = known ?? atLeast; most < copies; most++) this.stagedSum.add(content);
    if (copies > Math.max(1, known ?? 1)) this.copies.set(n, copies);
  }

  #valuesOf(
    n: number,
    { scalars, key, extra, content, arrays }: Omit<MirrorRecord, 'position' | 'mentions'>,
  ): (Scalar | Buffer)[] {
    const values = [n, ...scalars, ...(this.isOfIds ? [] : [key]), extra, content];
    if (this.sql.hasArrays) values.push(JSON.stringify(arrays));
    return values;
  }

  #show(row: number, content: Uint8Array, offset = 0): void {
    if (this.shown.add(row)) this.shownSum.add(content, offset);
  }

  /** A staged record's content, as 32 hexadecimal digits. */
  contentOf(n: number): string {
    return this.#content.get(n) as string;
  }

  /**
   * Whether a page needs no parsing: it came before in this run, or it is remembered and its rows still have its contents. It is then
   * entered as if it had been parsed now.
   */
  isKnown(digest: string): boolean {
    const page = this.before.pages[digest];
    if (this.pages.has(digest) || page === undefined) return this.pages.has(digest);
    const [ranges, hash, said] = page;
    const [hex, json, ids] = this.#rowsOf.get(JSON.stringify(ranges)) as [string | null, string, string];
    const contents = Buffer.from(hex ?? '', 'hex');
    const isSame = hash16Hex(contents) === hash; // guard: contents of known pages
    if (!isSame) return false;
    const keys = Float64Array.from(JSON.parse(json) as (number | null)[], key => key ?? Number.NaN);
    const rows = Float64Array.from(JSON.parse(ids));
    const names = Int32Array.from(said);
    this.names.enter(names, this.#timesOf(keys));
    rows.forEach((row, at) => {
      this.#show(row, contents, at * contentBytes);
    });
    const items = new PageItems(digest, keys, contents, this.context.list.identity.by);
    this.pages.set(digest, { items, rows, names, first: 0, last: 0 });
    return true;
  }

  /** Shows the list's number of rows for each record that is on several pages, and stages the missing ones. */
  settleRepeats(repeated: readonly RepeatedRecord[]): void {
    if (repeated.length === 0) return;
    const { sqlite, table } = this.context;
    const rowsOf = new Map(repeated.map(({ content }) => [hexOf(content), [] as number[]]));
    const all = sqlite.prepare<[], [number, string]>(this.sql.contents).raw();
    for (const [id, content] of all.iterate()) rowsOf.get(content)?.push(id);
    for (const { content, count } of repeated) {
      const rows = rowsOf.get(hexOf(content)) ?? [];
      for (const row of rows.slice(0, count)) this.#show(row, content);
      const more = count - Math.min(count, rows.length);
      const [first] = rows;
      const isStaged = this.#numbers.find(content) >= 0;
      // A rejected record has no row and is not staged.
      if (more === 0 || !(isStaged || first !== undefined)) continue;
      const n = this.#numbers.numberOf(content) + 1;
      if (!isStaged && first !== undefined) {
        const { record } = table.read(first);
        const key = table.keys(first, first)[0]?.key as number;
        this.#insert.run(this.#valuesOf(n, { ...record, key, content: Buffer.from(content) }));
      }
      this.#noteCopies(n, more, isStaged ? 1 : 0, content);
    }
  }

  /** Drops the staging tables. */
  end(): void {
    this.context.sqlite.exec(this.sql.drop);
  }
}

function hexOf(content: Uint8Array): string {
  return Buffer.from(content).toString('hex');
}
