import type Database from 'better-sqlite3';
import { type Scalar, scalarFields, timeFieldOf } from '../../contract/lists.ts';
import { type Page, parseItems, type UnknownField } from '../../contract/page.ts';
import { type MirrorRecord, readRecords } from '../../contract/record.ts';
import { contentBytes, hash16, hash16Hex, Sum } from '../../contract/sum.ts';
import { ContentNumbers } from '../../proof/numbers.ts';
import { straysMax } from '../../proof/order.ts';
import { type KnownRow, type Settled, settle } from '../../proof/settle.ts';
import { type Answer, type PageAddress, PageItems } from '../../proof/window.ts';
import { comparable, SaidNames } from './connections.ts';
import { IdSet } from './id-set.ts';
import { type ListSql, listSql, rowsPerInsert } from './list-sql.ts';
import type { ListState, ParsedPage } from './memory.ts';
import type { ListContext } from './mirror.ts';
import { RejectedRecords } from './rejected.ts';

/**
 * What a run reads of a list. Each record gets a number: its id or, without ids, the least row of its identity, or a number below zero if
 * the mirror has none. A version that the mirror does not have is staged in a TEMP table, under a number of its own.
 */
export class Stage {
  readonly context: ListContext;
  readonly isOfIds: boolean;
  readonly sql: ListSql;
  readonly rejected: RejectedRecords;
  readonly pages = new Map<string, ParsedPage>();
  /** What the answers have beside `items` and `pagination`, by name and type. */
  readonly answerMembers = new Map<string, UnknownField>();
  readonly names: SaidNames;
  /** What is known of the list from before. */
  readonly before: ListState;
  /** Rows that answers have shown as they are, if no other row has their identity. */
  readonly shown = new IdSet();
  /** The numbers of staged versions. */
  readonly staged = new IdSet();
  /** The sum of all versions that answers have shown, each once. */
  readonly #shownSum = new Sum();
  readonly #shownVersions = new IdSet();
  readonly #answers: PageItems[] = [];
  #joined: readonly PageItems[] = [];
  /** Pages of the last proven full sync that came again, but were not accepted yet. */
  readonly #recalled = new Map<string, ParsedPage>();
  readonly #contents = new ContentNumbers();
  readonly #identities = new ContentNumbers();
  /** The record of each identity and of each version, by their numbers from 0. */
  readonly #recordOfIdentity: number[] = [];
  readonly #recordOfVersion: number[] = [];
  /** Records of which there is more than one version, row or copy, and their rows. All others are as the only answer says. */
  readonly #open = new Set<number>();
  readonly #rowsOf = new Map<number, readonly KnownRow[]>();
  /** Rows that share their identity with others. */
  readonly #twins = new Map<number, { readonly record: number; readonly version: number }>();
  readonly #identifying: readonly number[];
  readonly #timeAt: number;
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #rowsOfPage: Database.Statement<
    [ranges: string],
    [contents: string | null, keys: string, rows: string]
  >;
  readonly #rowsOfIdentity: Database.Statement<Scalar[], number>;
  readonly #contentOfRow: Database.Statement<[number], Buffer>;
  readonly #rejectedNumbers = new ContentNumbers();
  /** Versions of rows that are staged, because other rows can get them. */
  readonly #ofRows: number[] = [];
  /** Ids that have a staged version. */
  readonly #idsWithVersions = new IdSet();
  #settlement: Settlement | null = null;

  constructor(context: ListContext, before: ListState) {
    const { list, sqlite, sum } = context;
    const { identity } = list;
    this.context = context;
    this.isOfIds = identity.by === 'id';
    this.rejected = new RejectedRecords(list);
    this.before = before;
    this.names = new SaidNames(before.names);
    this.sql = listSql(list);
    const fields = scalarFields(list);
    this.#timeAt = fields.indexOf(timeFieldOf(list) as never);
    const names: readonly string[] = identity.by === 'id' ? [] : identity.fields;
    this.#identifying = [...fields.keys()].filter(
      at => at !== this.#timeAt && names.includes(fields[at]?.name as string),
    );
    sqlite.exec(this.sql.create);
    this.#insert = sqlite.prepare(this.sql.insert);
    this.#insertMany = sqlite.prepare(this.sql.insertMany);
    this.#rowsOfPage = sqlite.prepare<[string], [string | null, string, string]>(this.sql.known).raw();
    this.#rowsOfIdentity = sqlite.prepare<Scalar[], number>(this.sql.rowsOfIdentity).pluck();
    this.#contentOfRow = sqlite.prepare<[number], Buffer>(this.sql.contentOf).pluck();
    const twins =
      sum.count === 0 || this.sql.twins === null
        ? []
        : sqlite.prepare<[], string>(this.sql.twins).pluck().all();
    for (const rows of twins) this.#noteTwins(JSON.parse(rows));
  }

  /** Notes rows that share an identity; each with its content. */
  #noteTwins(found: readonly (readonly [row: number, content: string])[]): void {
    const rows = found.map(([row, content]) => {
      return { row, version: this.#contents.numberOf(Buffer.from(content, 'hex')) + 1 };
    });
    rows.sort((a, b) => a.row - b.row);
    const record = (rows[0] as KnownRow).row;
    for (const { row, version } of rows) {
      this.#twins.set(row, { record, version });
      this.#recordOfVersion[version - 1] = record;
    }
    this.#rowsOf.set(record, rows);
    this.#open.add(record);
  }

  /** How many records the run has seen, each once. */
  get seenCount(): number {
    return this.settle().sum.count + this.rejected.count;
  }

  /** How often answers have shown a record that another one shows, too. */
  get repeatedCount(): number {
    return this.#answers.reduce((sum, { count }) => sum + count, 0) - this.seenCount;
  }

  /** How many records the list did not have. */
  get addedCount(): number {
    const { copies } = this.settle();
    let count = this.staged.size;
    for (const [version, copiesOf] of copies) count += copiesOf - (this.staged.has(version) ? 1 : 0);
    return count;
  }

  /** Reads a page that was accepted, and returns what the proof needs of it. */
  read(page: Page, address: PageAddress): Pick<Answer, 'page' | 'oldestNewKeys'> {
    for (const member of page.otherMembers)
      this.answerMembers.set(`${member.jsonType} ${member.field}`, member);
    const newKeys: number[] = [];
    let parsed = this.pages.get(page.digest);
    if (parsed === undefined) {
      const recalled = this.#recalled.get(page.digest);
      parsed = recalled ?? this.#parse(page, address, newKeys);
      if (recalled !== undefined) this.#enter(recalled);
      this.pages.set(page.digest, parsed);
    }
    this.#answers.push(parsed.items);
    this.#settlement = null;
    // One that can't be read is older than all others.
    const oldest = newKeys.map(comparable).sort((a, b) => a - b);
    return { page: parsed.items, oldestNewKeys: oldest.slice(0, straysMax + 1) };
  }

  /** Takes records of several pages that count as one answer, in the place of those before. */
  join(joined: readonly PageItems[]): void {
    this.#joined = joined;
    for (const { records } of joined) for (const record of records) this.#open.add(record);
    this.#settlement = null;
  }

  #parse(page: Page, { index, size }: PageAddress, newKeys: number[]): ParsedPage {
    const { list, sqlite, sum, table } = this.context;
    const all = page.items ?? parseItems(page.bytes);
    const { records, rejections, contents } = readRecords(list, all);
    const keys = new Float64Array(all.length);
    const numbers = { records: new Float64Array(all.length), versions: new Int32Array(all.length) };
    for (const { position, key } of records) keys[position] = key;
    for (const { position, key, content } of this.rejected.add(rejections, index * size)) {
      keys[position] = key;
      contents.set(content, position * contentBytes);
      // It is no record of the mirror. If it comes again it has the same number.
      numbers.records[position] =
        this.isOfIds && !Number.isNaN(key) ? key : -(this.#rejectedNumbers.numberOf(content) + 0.5);
      numbers.versions[position] = -1;
    }
    const found = sum.count === 0 ? [] : table.findAll(records);
    sqlite.transaction(() => this.#number(records, found, numbers, newKeys))();
    const names = this.names.read(records, this.#timesOf(keys));
    return { items: new PageItems(page.digest, keys, contents, numbers, list.identity.by), names };
  }

  /** Names are as old as their records; in a list with ids nobody knows how old. */
  #timesOf(keys: Float64Array): (place: number) => number {
    return this.isOfIds ? () => Number.NEGATIVE_INFINITY : place => comparable(keys[place] as number);
  }

  /** Numbers the records of a page, and stages those that the mirror does not have. */
  #number(
    all: readonly MirrorRecord[],
    found: readonly (number | undefined)[],
    { records, versions }: { readonly records: Float64Array; readonly versions: Int32Array },
    newKeys: number[],
  ): void {
    const onPage = new Map<number, number>();
    const values: (Scalar | Buffer)[] = [];
    for (const [at, each] of all.entries()) {
      const { position, key, content } = each;
      const row = found[at];
      let record: number;
      if (row !== undefined) record = this.#showRow(row, content, 0, records, versions, position);
      else {
        const version = this.#contents.numberOf(content) + 1;
        record = this.#recordOfVersion[version - 1] ?? this.#recordOf(each);
        this.#recordOfVersion[version - 1] = record;
        if (this.staged.add(version)) values.push(...this.#valuesOf(version, each));
        if (this.#shownVersions.add(version)) this.#shownSum.add(content);
        records[position] = record;
        versions[position] = version;
      }
      const copies = (onPage.get(record) ?? 0) + 1;
      onPage.set(record, copies);
      if (copies > 1) this.#open.add(record);
      if (row === undefined || copies > Math.max(1, this.#rowsOf.get(record)?.length ?? 0)) newKeys.push(key);
    }
    const many = this.sql.width * rowsPerInsert;
    let at = 0;
    for (; at + many <= values.length; at += many) this.#insertMany.run(values.slice(at, at + many));
    for (; at < values.length; at += this.sql.width) this.#insert.run(values.slice(at, at + this.sql.width));
  }

  /** Enters that a page shows a row as it is, and returns the number of its record. */
  #showRow(
    row: number,
    contents: Uint8Array,
    offset: number,
    records: Float64Array,
    versions: Int32Array,
    at: number,
  ): number {
    const twin = this.#twins.get(row);
    const isNew = twin === undefined ? this.shown.add(row) : this.#shownVersions.add(twin.version);
    if (isNew) this.#shownSum.add(contents, offset);
    records[at] = twin?.record ?? row;
    versions[at] = twin?.version ?? 0;
    return records[at];
  }

  /** The number of the record of a version that was not seen before: if its identity is known, there are several versions. */
  #recordOf(each: MirrorRecord): number {
    if (this.isOfIds) {
      const id = each.id as number;
      if (!this.#idsWithVersions.add(id)) this.#open.add(id);
      else if (this.#isRow(id)) this.#openRows(id, [id]);
      return id;
    }
    const { key, scalars } = each;
    const fields = this.#identifying.map(at => scalars[at] as Scalar);
    const time = Number.isNaN(key) ? null : key;
    const text = time === null ? (scalars[this.#timeAt] as Scalar) : null;
    const before = this.#identities.count;
    const identity = this.#identities.numberOf(hash16(JSON.stringify([time, text, ...fields])));
    if (identity === before) {
      const rows = this.context.sum.count === 0 ? [] : this.#rowsOfIdentity.all(time, text, ...fields);
      const record = rows[0] ?? -(identity + 1);
      if (rows.length > 0) this.#openRows(record, rows);
      this.#recordOfIdentity.push(record);
      return record;
    }
    const record = this.#recordOfIdentity[identity] as number;
    this.#open.add(record);
    return record;
  }

  #openRows(record: number, rows: readonly number[]): void {
    this.#open.add(record);
    // Those that share an identity are known from the start.
    if (!this.#rowsOf.has(record))
      this.#rowsOf.set(
        record,
        rows.map(row => ({ row, version: 0 })),
      );
  }

  #valuesOf(
    n: number,
    { id, scalars, key, extra, content, arrays }: Omit<MirrorRecord, 'position' | 'mentions'>,
  ): (Scalar | Buffer)[] {
    const values = [n, this.isOfIds ? id : key, ...scalars, extra, content];
    if (this.sql.hasArrays) values.push(JSON.stringify(arrays));
    return values;
  }

  /** A version's content. */
  contentOf(record: number, version: number): Uint8Array {
    if (version > 0) return this.#contents.bytesOf(version - 1);
    return this.#contentOfRow.get(record) as Buffer;
  }

  /**
   * Whether a page needs no parsing: it came before in this run, or it is remembered and its rows still have its contents. It is entered
   * when it is accepted.
   */
  recall(digest: string): boolean {
    const page = this.before.pages[digest];
    if (this.pages.has(digest) || this.#recalled.has(digest)) return true;
    if (page === undefined) return false;
    const [ranges, hash, said] = page;
    const [hex, json, ids] = this.#rowsOfPage.get(JSON.stringify(ranges)) as [string | null, string, string];
    const contents = Buffer.from(hex ?? '', 'hex');
    const isSame = hash16Hex(contents) === hash; // guard: contents of known pages
    if (!isSame) return false;
    const keys = Float64Array.from(JSON.parse(json) as (number | null)[], key => key ?? Number.NaN);
    const records = Float64Array.from(JSON.parse(ids));
    const numbers = { records, versions: new Int32Array(records.length) };
    const items = new PageItems(digest, keys, contents, numbers, this.context.list.identity.by);
    this.#recalled.set(digest, { items, names: Int32Array.from(said) });
    return true;
  }

  /** Enters a page that is remembered. Its records have the numbers of rows until then. */
  #enter({ items: { keys, contents, records, versions }, names }: ParsedPage): void {
    this.names.enter(names, this.#timesOf(keys));
    for (const [at, row] of records.entries())
      this.#showRow(row, contents, at * contentBytes, records, versions, at);
  }

  /** What the answers so far say of the records. */
  settle(): Settlement {
    this.#settlement ??= this.#settle();
    return this.#settlement;
  }

  #settle(): Settlement {
    const rowsOf = (record: number): readonly KnownRow[] =>
      this.#rowsOf.get(record) ?? (this.#isRow(record) ? [{ row: record, version: 0 }] : []);
    const settled = settle([...this.#answers, ...this.#joined], this.#open, rowsOf, this.isOfIds);
    const edits = new Map<number, number>();
    const copies = new Map(this.#ofRows.map(n => [n, 0]));
    const held = new Set<number>();
    const sum = this.#shownSum.plus(new Sum());
    for (const [record, { kept, edited, added, shown }] of settled) {
      for (const version of shown) {
        sum.subtract(this.contentOf(record, version));
        if (version > 0) copies.set(version, 0);
      }
      const use = (version: number, row: number | null) => {
        sum.add(this.contentOf(record, version));
        // A version of a row is staged if another row gets it, too.
        const n = version > 0 ? version : this.#contents.numberOf(this.contentOf(record, 0)) + 1;
        if (!this.staged.has(n)) this.#stageRow(record, version, n);
        copies.set(n, (copies.get(n) ?? 0) + (row === null ? 1 : 0));
        if (row !== null) edits.set(row, n);
      };
      for (const { row, version } of kept) {
        held.add(row);
        sum.add(this.contentOf(record, version));
      }
      for (const { row, version } of edited) {
        held.add(row);
        use(version, row);
      }
      for (const version of added) use(version, null);
    }
    return { settled, edits, copies, held, sum };
  }

  /** In a list without ids, records that have a row have its number. */
  #isRow(record: number): boolean {
    if (this.context.sum.count === 0) return false;
    return this.isOfIds ? this.#rowsOfIdentity.get(record) !== undefined : record > 0;
  }

  /** Stages the version of a row, so that another row can get it. */
  #stageRow(record: number, version: number, n: number): void {
    const { table } = this.context;
    const isIt = (each: KnownRow) => each.version === version;
    const row = version === 0 ? record : (this.#rowsOf.get(record) ?? []).find(isIt)?.row;
    if (row === undefined) throw new Error(`no row has version ${version}`);
    const stored = table.read(row);
    const key = stored.lead ?? Number.NaN;
    this.#insert.run(
      this.#valuesOf(n, { ...stored.record, key, content: Buffer.from(stored.content, 'hex') }),
    );
    this.staged.add(n);
    this.#ofRows.push(n);
  }

  /** Whether a row that no answer leaves room for is only an older text of a record that is there. */
  isOlderText(row: number): boolean {
    const twin = this.#twins.get(row);
    return twin !== undefined && this.settle().settled.has(twin.record);
  }

  /** Drops the staging tables. */
  end(): void {
    this.context.sqlite.exec(this.sql.drop);
  }
}

/** What becomes of the records of a run. */
export interface Settlement {
  /** The records of which there is more than one version, row or copy. */
  readonly settled: ReadonlyMap<number, Settled>;
  /** The new versions of rows. */
  readonly edits: ReadonlyMap<number, number>;
  /** How many rows are inserted of a staged version, if it is not one. */
  readonly copies: ReadonlyMap<number, number>;
  /** Rows of these records that stay or get a new version. */
  readonly held: ReadonlySet<number>;
  /** The sum of the records that the list has by the answers. */
  readonly sum: Sum;
}
