import type Database from 'better-sqlite3';
import type { RecordValues } from '../../contract/content.ts';
import { type Scalar, scalarFields } from '../../contract/lists.ts';
import { identityOf, type MirrorRecord } from '../../contract/record.ts';
import { contentBytes, hash16, Sum, writeHash16 } from '../../contract/sum.ts';
import type { UnshownRow } from '../../proof/questions.ts';
import {
  asItsRow,
  type KnownRow,
  type Settled,
  type ShownRecords,
  settle,
  unreadable,
} from '../../proof/settle.ts';
import type { PageItems } from '../../proof/window.ts';
import { KnownForms } from './known-forms.ts';
import { type ListSql, rowsPerInsert } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import { HashNumbers, IdSet } from './numbers.ts';

/** What the answers say of all records of a list. */
export interface Settlement {
  /** The records of which there is more than one version or row, or that an answer shows twice. */
  readonly settled: ReadonlyMap<number, Settled>;
  /** The rows of these records that stay, or get another version. */
  readonly held: ReadonlySet<number>;
  /** How many records the list has by the answers, how many rows get another version, and how many are new. */
  readonly seen: number;
  readonly edited: number;
  readonly added: number;
}

/**
 * The records of a list during a run. A record's number is its id; or without ids the first row of its identity, and below zero if it has
 * none. For most it remembers a bit or two: those of one version, with one row or none. The others are open until they are settled.
 */
export class Records {
  readonly #context: ListContext;
  readonly #isOfIds: boolean;
  readonly #sql: ListSql;
  /** Rows that answers have shown as they are; rows that share an identity are not among them. */
  readonly #shown = new IdSet();
  /** Records of which versions are staged, and how many of them have a row. */
  readonly #staged = new IdSet();
  #stagedRows = 0;
  readonly #open = new Set<number>();
  readonly #contents = new HashNumbers();
  readonly #identities = new HashNumbers();
  readonly #rejected = new HashNumbers();
  /** Versions with a number that answers have shown. */
  readonly #versions = new IdSet();
  /** The sums of these versions, and of rows that were shown as they are; each once. */
  readonly #stagedSum = new Sum();
  readonly #rowSum = new Sum();
  /** Rows that share an identity, each with its record and version; and the rows of these records. */
  readonly #twins = new Map<number, { readonly record: number; readonly version: number }>();
  readonly #rowsOfTwins = new Map<number, readonly KnownRow[]>();
  /** Rows of this key and greater ones, and those without a key, were searched for twins. */
  #searchedFrom: number | null = null;
  readonly #hash = Buffer.alloc(contentBytes);
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #forms: KnownForms;
  readonly #twinRows: Database.Statement<object, string> | null;

  constructor(context: ListContext, sql: ListSql) {
    const { list, sqlite } = context;
    this.#context = context;
    this.#isOfIds = list.identity.by === 'id';
    this.#sql = sql;
    this.#insert = sqlite.prepare(sql.insert);
    this.#insertMany = sqlite.prepare(sql.insertMany);
    this.#forms = new KnownForms(context, sql);
    this.#twinRows = sql.twins === null ? null : sqlite.prepare<object, string>(sql.twins).pluck();
  }

  /** Notes the rows that share an identity, down to the least of some keys: at the growing end of a list these are few. */
  #noteTwins(keys: Iterable<number>): void {
    const { sum, table } = this.#context;
    if (sum.count === 0 || this.#twinRows === null) return;
    const to = this.#searchedFrom ?? Number.POSITIVE_INFINITY;
    let from = to;
    for (const key of keys) if (key < from) from = key;
    if (from === this.#searchedFrom) return;
    this.#searchedFrom = from;
    for (const json of this.#twinRows.all({ from, to })) {
      const found: { readonly row: number; readonly content: string }[] = JSON.parse(json);
      // A row that no record finds has a version that no record has.
      const versionOf = (row: number, content: string) =>
        this.#contents.numberOf(table.isUnlike(row) ? hash16(`row ${row}`) : Buffer.from(content, 'hex'));
      const rows = found.map(({ row, content }) => ({ row, version: versionOf(row, content) }));
      rows.sort((a, b) => a.row - b.row);
      const record = (rows[0] as KnownRow).row;
      for (const known of rows) this.#twins.set(known.row, { record, version: known.version });
      this.#rowsOfTwins.set(record, rows);
      this.#open.add(record);
    }
  }

  /** Numbers a page's records, of which `found` has rows with their contents, and stages the others. Returns the keys of those. */
  number(all: readonly MirrorRecord[], found: readonly (number | undefined)[], into: ShownRecords): number[] {
    this.#noteTwins(all.map(({ key }) => key));
    const newKeys: number[] = [];
    const counts = new Map<number, number>();
    const values: (Scalar | Buffer)[] = [];
    for (const [at, each] of all.entries()) {
      const row = found[at] ?? this.#stage(each, into, values);
      const { position, key, content } = each;
      if (row !== null) this.#show(row, content, 0, into, position);
      const record = into.records[position] as number;
      const count = (counts.get(record) ?? 0) + 1;
      counts.set(record, count);
      if (count > 1) this.#open.add(record);
      if (row === null || count > (this.#rowsOfTwins.get(record)?.length ?? 1)) newKeys.push(key);
    }
    const many = this.#sql.width * rowsPerInsert;
    let at = 0;
    for (; at + many <= values.length; at += many) this.#insertMany.run(values.slice(at, at + many));
    for (; at < values.length; at += this.#sql.width)
      this.#insert.run(values.slice(at, at + this.#sql.width));
    return newKeys;
  }

  /** Numbers a record that can't be read: it is the same if it comes again, and none of the mirror. */
  numberRejected(key: number, content: Uint8Array, into: ShownRecords, position: number): void {
    // No id and no row is half a number.
    const hasId = this.#isOfIds && !Number.isNaN(key);
    into.records[position] = hasId ? key : this.#rejected.numberOf(content) - 0.5;
    into.versions[position] = unreadable;
  }

  /** Enters a page whose records are rows as they are: its records have the ids of these rows as their numbers until then. */
  showAll(page: PageItems, contents: Uint8Array): void {
    this.#noteTwins(page.keys);
    for (const [at, row] of page.records.entries()) this.#show(row, contents, at * contentBytes, page, at);
  }

  #show(row: number, contents: Uint8Array, offset: number, into: ShownRecords, position: number): void {
    const twin = this.#twins.get(row);
    const isNew = twin === undefined ? this.#shown.add(row) : this.#versions.add(twin.version);
    if (isNew) this.#rowSum.add(contents, offset);
    if (isNew && this.#staged.has(row)) this.#open.add(row);
    into.records[position] = twin?.record ?? row;
    into.versions[position] = twin?.version ?? asItsRow;
  }

  /** Stages a record in the form that is known of it; unless a row means the same, which is then returned. */
  #stage(each: MirrorRecord, into: ShownRecords, values: (Scalar | Buffer)[]): number | null {
    const first = this.#forms.ofRowOf(each);
    const record = this.#recordOf(each, first?.row);
    const staged = this.#staged.has(record) ? record : null;
    const isToDress = (first !== undefined || staged !== null) && !this.#contents.has(each.content);
    const known = { first, twins: this.#rowsOfTwins.get(record), staged };
    const dressed = isToDress ? this.#forms.dress(each, known) : { record: each, row: null };
    if (dressed.row !== null) return dressed.row;
    const { position, content } = dressed.record;
    const version = this.#contents.numberOf(content);
    into.records[position] = record;
    into.versions[position] = version;
    if (!this.#versions.add(version)) return null;
    this.#stagedSum.add(content);
    values.push(...this.#rowToStage(version, record, dressed.record));
    const isFirst = this.#staged.add(record);
    if (isFirst && first !== undefined) this.#stagedRows++;
    if (!isFirst || this.#shown.has(record)) this.#open.add(record);
    return null;
  }

  #recordOf(each: MirrorRecord, row: number | undefined): number {
    if (each.id !== null) return each.id;
    if (row !== undefined) return row;
    writeHash16(identityOf(this.#context.list, each), this.#hash, 0);
    return -this.#identities.numberOf(this.#hash);
  }

  #hasRow(record: number): boolean {
    return this.#isOfIds ? this.#forms.hasRow(record) : record > 0;
  }

  #rowToStage(n: number, record: number, values: Omit<MirrorRecord, 'position' | 'mentions'>) {
    const { scalars, key, extra, content, arrays } = values;
    const all: (Scalar | Buffer)[] = [n, record, ...(this.#isOfIds ? [] : [key]), ...scalars, extra, content];
    if (this.#sql.hasArrays) all.push(JSON.stringify(arrays));
    return all;
  }

  /** Records of several pages that count as one answer are open. */
  open({ records }: ShownRecords): void {
    for (const record of records) this.#open.add(record);
  }

  rowsOf(record: number): readonly KnownRow[] {
    return (
      this.#rowsOfTwins.get(record) ?? (this.#hasRow(record) ? [{ row: record, version: asItsRow }] : [])
    );
  }

  /** Whether a row is in the list, as it is or as an older version of a record. */
  isThere(row: number, { held }: Settlement): boolean {
    if (this.#twins.has(row)) return held.has(row);
    return this.#shown.has(row) || this.#staged.has(row);
  }

  /** What the answers say, the oldest first. */
  settle(answers: readonly ShownRecords[]): Settlement {
    const settled = settle(answers, this.#open, record => this.rowsOf(record), this.#isOfIds);
    const held = new Set<number>();
    let seen = this.#rowSum.count + this.#stagedSum.count;
    let [edited, added] = [this.#stagedRows, this.#staged.size - this.#stagedRows];
    for (const [record, each] of settled) {
      for (const { row } of [...each.kept, ...each.edited]) held.add(row);
      seen += each.kept.length + each.edited.length + each.added.length - each.shown.size;
      edited += each.edited.length;
      added += each.added.length;
      if (!this.#staged.has(record)) continue;
      if (this.rowsOf(record).length > 0) edited--;
      else added--;
    }
    return { settled, held, seen, edited, added };
  }

  /** The sum of the records that the list has by the answers, and of those among them that rows get. */
  sumsOf({ settled }: Settlement): { readonly listed: Sum; readonly written: Sum } {
    const listed = this.#rowSum.plus(this.#stagedSum);
    const written = this.#stagedSum.plus(new Sum());
    for (const [record, { kept, edited, added, shown }] of settled) {
      const ofRows = new Map<number, Uint8Array>();
      for (const { row, version } of this.rowsOf(record)) ofRows.set(version, this.#contentOfRow(row));
      const contentOf = (version: number) => ofRows.get(version) ?? this.#contents.bytesOf(version);
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

  #contentOfRow(row: number): Uint8Array {
    return Buffer.from(this.#context.table.read(row).content, 'hex');
  }

  /** The rows that no answer leaves room for, in the order of their ids. */
  unshown(settlement: Settlement): UnshownRow[] {
    const { table, sqlite, sum } = this.#context;
    if (sum.count === 0 || this.#shown.size >= table.count()) return [];
    const isMissing = ({ id }: UnshownRow) => !this.isThere(id, settlement);
    // Ids of the service can be far apart.
    if (this.#isOfIds) return table.keys().filter(isMissing);
    const unshown: UnshownRow[] = [];
    const span = sqlite.prepare<[], { least: number; most: number }>(this.#sql.idSpan).get();
    for (const { from, to } of span === undefined ? [] : this.#shown.gaps(span.least, span.most))
      for (const row of table.keys(from, to)) if (isMissing(row)) unshown.push(row);
    return unshown;
  }

  /** The number under which a version is staged. That of a row is staged here, so that another row can get it. */
  stagedVersion(record: number, version: number): number {
    const known = this.#rowWith(record, version);
    if (known === undefined) return version;
    const { record: values, lead, content } = this.#context.table.read(known.row);
    const bytes = Buffer.from(content, 'hex');
    const n = this.#contents.numberOf(bytes);
    this.#insert.run(this.#rowToStage(n, record, { ...values, key: lead ?? Number.NaN, content: bytes }));
    return n;
  }

  /** The values of a version, staged or of a row. */
  valuesOf(record: number, version: number): RecordValues {
    const { table, list, sqlite } = this.#context;
    const known = this.#rowWith(record, version);
    if (known !== undefined) return table.read(known.row).record;
    const staged = sqlite.prepare<[number], Record<string, Scalar>>(this.#sql.staged).get(version) ?? {};
    return {
      id: this.#isOfIds ? record : null,
      scalars: scalarFields(list).map(({ column }) => staged[column] ?? null),
      arrays: JSON.parse(String(staged.arrays ?? '[]')),
      extra: staged._extra as string | null,
    };
  }

  #rowWith(record: number, version: number): KnownRow | undefined {
    return this.rowsOf(record).find(known => known.version === version);
  }

  get lastVersion(): number {
    return this.#contents.count;
  }
}
