// The numbers of records and of their texts, by which the proof knows them. Known rows cost a bit each.

import type Database from 'better-sqlite3';
import type { RecordValues } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { identityOf, type MirrorRecord } from '../../contract/record.ts';
import { contentBytes, hash16, Sum, writeHash16 } from '../../contract/sum.ts';
import {
  asItsRow,
  isOfRow,
  ofId,
  ofNew,
  ofRejected,
  ofRow,
  ofText,
  type RecordNo,
  type ShownRecords,
  unreadable,
  type VersionNo,
} from '../../proof/page-items.ts';
import type { KnownRow } from '../../proof/reconcile.ts';
import { BitSet, InternTable, withRoom } from './compact-sets.ts';
import type { ItemsRead } from './known-items.ts';
import type { ListSql } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import type { SharedKeys } from './shared-keys.ts';
import { Versions } from './versions.ts';

/**
 * The records that pages have shown of a list. For most it remembers a bit or two: those of one version, with one row or none. The others
 * are reconciled.
 */
export class Records {
  readonly #context: ListContext;
  readonly #sharedKeys: SharedKeys;
  /** Whether the records have ids; if not, which of those with one identity a record is: rows can share one, and new texts can. */
  readonly isOfIds: boolean;
  /** Numbers the contents of all versions. */
  readonly texts = new InternTable();
  /** Rows that answers have shown as they are; rows that share an identity are not among them. */
  readonly shownRows = new BitSet();
  /** The sum of all rows that were shown as they are, each once. */
  readonly shownSum = new Sum();
  /** Records of which versions are staged, how many of them have a row, and the sum of these versions, each once. */
  readonly staged = new BitSet();
  stagedRows = 0;
  readonly stagedSum = new Sum();
  /** Records of several versions or rows, or that an answer shows twice: what becomes of their rows is known when all answers are there. */
  readonly toReconcile = new Set<RecordNo>();
  /** Rows that share an identity, each with its record and version; and the rows of these records. */
  readonly duplicates = new Map<number, { readonly record: RecordNo; readonly version: VersionNo }>();
  readonly #rowsOfDuplicates = new Map<RecordNo, readonly KnownRow[]>();
  /** Rows of this key and greater ones, and those without a key, were searched for duplicates. */
  #searchedFrom: number | null = null;
  readonly #duplicateRows: Database.Statement<object, string> | null;
  /** Versions with a number that answers have shown. */
  readonly #shown = new BitSet();
  readonly #rejected = new InternTable();
  readonly #new: NewIdentities;
  readonly #versions: Versions;

  constructor(context: ListContext, sql: ListSql, sharedKeys: SharedKeys) {
    [this.#context, this.#sharedKeys] = [context, sharedKeys];
    const { list, sumBefore, sqlite } = context;
    this.isOfIds = list.identity.by === 'id';
    const find = sumBefore.count === 0 ? null : sql.duplicates;
    this.#duplicateRows = find === null ? null : sqlite.prepare<object, string>(find).pluck();
    this.#versions = new Versions(context, sql);
    const valuesOf = (text: number) => this.#versions.valuesOf(ofNew(text), ofText(text));
    this.#new = new NewIdentities(list, this.texts, valuesOf);
  }

  /**
   * Numbers a page's records: those that are known to be rows, and `parsed` ones. Stages those that no row has, and returns the keys of what
   * the mirror lacks.
   */
  numberAndStage(
    { items, keys, known }: ItemsRead,
    parsed: readonly MirrorRecord[],
    into: ShownRecords,
  ): number[] {
    for (const record of this.#findDuplicates(keys)) this.toReconcile.add(record);
    for (const { place, rows, contents } of known)
      for (const [at, row] of rows.entries())
        this.#noteRow(row, contents, at * contentBytes, into, place + at);
    const { sumBefore, table } = this.#context;
    const found = sumBefore.count === 0 ? [] : table.findAll(parsed);
    const lacking = new Set<number>();
    for (const [at, each] of parsed.entries()) {
      const { position, contents, offset } = each;
      const row = found[at] ?? this.#stage(each, into);
      // If a row means the same, #stage has written its content here.
      if (row === null) lacking.add(position);
      else this.#noteRow(row, contents, offset, into, position);
    }
    this.#versions.write();
    // A page that is known as a whole shows each of its rows once.
    for (const at of items === null ? [] : repeatedIn(into)) {
      const record = into.records[at] as RecordNo;
      this.toReconcile.add(record);
      const count = into.records.subarray(0, at + 1).filter(other => other === record).length;
      if (count > (this.#rowsOfDuplicates.get(record)?.length ?? 1)) lacking.add(at);
    }
    return Array.from(lacking, at => keys[at] as number);
  }

  /** Numbers a record that can't be read: it is the same if it comes again, and none of the mirror. */
  numberRejected(key: number, content: Uint8Array, into: ShownRecords, position: number): void {
    const hasId = this.isOfIds && !Number.isNaN(key);
    into.records[position] = hasId ? ofId(key) : ofRejected(this.#rejected.numberOf(content));
    into.versions[position] = unreadable;
  }

  #noteRow(row: number, contents: Uint8Array, offset: number, into: ShownRecords, position: number): void {
    const duplicate = this.duplicates.get(row);
    const record = duplicate?.record ?? (this.isOfIds ? ofId(row) : ofRow(row));
    const isNew = duplicate === undefined ? this.shownRows.add(row) : this.#shown.add(duplicate.version);
    if (isNew) this.shownSum.add(contents, offset);
    if (isNew && this.staged.has(record)) this.toReconcile.add(record);
    into.records[position] = record;
    into.versions[position] = duplicate?.version ?? asItsRow;
  }

  /** Stages a record in the form that is known of it; unless a row means the same, which is then returned. */
  #stage(each: MirrorRecord, into: ShownRecords): number | null {
    const first = this.#versions.formOfRow(each);
    const record = this.#recordOf(each, first?.row);
    const staged = this.staged.has(record) ? record : null;
    const hasForm = first !== undefined || staged !== null;
    const isOtherText = hasForm && this.texts.find(each.contents, each.offset) === null;
    const duplicates = this.#rowsOfDuplicates.get(record);
    const inForm = isOtherText ? this.#versions.inKnownForm(each, first, duplicates, staged) : null;
    if (inForm !== null && inForm.row !== null) return inForm.row;
    const values = inForm?.record ?? each;
    const { position, contents, offset } = values;
    const version = ofText(this.texts.numberOf(contents, offset));
    into.records[position] = record;
    into.versions[position] = version;
    if (!this.#shown.add(version)) return null;
    this.stagedSum.add(contents, offset);
    this.#versions.add(record, version, values);
    const isFirst = this.staged.add(record);
    if (isFirst && first !== undefined) this.stagedRows++;
    if (!isFirst || this.shownRows.has(record)) this.toReconcile.add(record);
    return null;
  }

  /** Finds rows that share an identity, down to the least of some keys: at the growing end these are few. Returns their records. */
  #findDuplicates(keys: Iterable<number>): readonly RecordNo[] {
    if (this.#duplicateRows === null) return [];
    const to = this.#searchedFrom ?? Number.POSITIVE_INFINITY;
    let from = to;
    for (const key of keys) if (key < from) from = key;
    if (from === this.#searchedFrom) return [];
    this.#searchedFrom = from;
    const areShared = this.#sharedKeys.areIn(from, to);
    // Rows without a key are found with the first ones.
    if (!areShared && to !== Number.POSITIVE_INFINITY) return [];
    return this.#duplicateRows.all({ from: areShared ? from : to, to }).map(json => {
      const found: readonly { readonly row: number; readonly content: string }[] = JSON.parse(json);
      const rows = found.map(({ row, content }) => ({ row, version: this.#versionOf(row, content) }));
      rows.sort((a, b) => a.row - b.row);
      const record = ofRow((rows[0] as KnownRow).row);
      for (const { row, version } of rows) this.duplicates.set(row, { record, version });
      this.#rowsOfDuplicates.set(record, rows);
      return record;
    });
  }

  /** A row that no record finds has a version that no record has. */
  #versionOf(row: number, content: string): VersionNo {
    const isUnlike = this.#context.table.isUnlike(row);
    return ofText(this.texts.numberOf(isUnlike ? hash16(`row ${row}`) : Buffer.from(content, 'hex')));
  }

  /** The rows of a record, each with its version. */
  rowsOf(record: RecordNo): readonly KnownRow[] {
    const hasRow = () => (this.isOfIds ? this.#versions.hasRow(record) : isOfRow(record));
    return this.#rowsOfDuplicates.get(record) ?? (hasRow() ? [{ row: record, version: asItsRow }] : []);
  }

  /** The record of a text whose identity has this first row, or undefined. */
  #recordOf(each: MirrorRecord, row: number | undefined): RecordNo {
    if (each.id !== null) return ofId(each.id);
    if (row !== undefined) return ofRow(row);
    return ofNew(this.#new.firstTextOf(each));
  }

  /** The number under which a version is staged. That of a row is staged here, so that another row can get it. */
  stagedVersion(record: RecordNo, version: VersionNo): VersionNo {
    const known = this.#rowWith(record, version);
    if (known === undefined) return version;
    const { record: values, sortKey, content } = this.#context.table.read(known.row);
    const contents = Buffer.from(content, 'hex');
    const staged = ofText(this.texts.numberOf(contents));
    this.#versions.add(record, staged, { ...values, key: sortKey ?? Number.NaN, contents, offset: 0 });
    this.#versions.write();
    return staged;
  }

  /** The values of a version, staged or of a row. */
  valuesOf(record: RecordNo, version: VersionNo): RecordValues {
    const known = this.#rowWith(record, version);
    if (known === undefined) return this.#versions.valuesOf(record, version);
    return this.#context.table.read(known.row).record;
  }

  #rowWith(record: RecordNo, version: VersionNo): KnownRow | undefined {
    return this.rowsOf(record).find(known => known.version === version);
  }
}

/** The places of records that a page has shown before them. */
function* repeatedIn({ records, versions }: ShownRecords): Generator<number> {
  const seen = new Set<RecordNo>();
  for (const [at, record] of records.entries()) {
    const { size } = seen;
    if (versions[at] !== unreadable && seen.add(record).size === size) yield at;
  }
}

/** Which records that have no id and no row are of one identity. Most times come once: of these no identity is made. */
class NewIdentities {
  readonly #list: ListDefinition;
  readonly #texts: InternTable;
  readonly #valuesOf: (text: number) => RecordValues;
  /** All times, and by the number of a time the first text that has it. */
  readonly #times = new InternTable(undefined, Float64Array.BYTES_PER_ELEMENT);
  #firstOfTime = new Int32Array(0);
  /** The times of several texts, the identities of these, and by the number of an identity its first text. */
  readonly #shared = new BitSet();
  readonly #identities = new InternTable();
  #firstOfIdentity = new Int32Array(0);
  readonly #time = new Float64Array(1);
  readonly #timeBytes = new Uint8Array(this.#time.buffer);
  readonly #hash = Buffer.alloc(contentBytes);

  /** @param texts numbers the contents of all versions of the run; `valuesOf` reads those of a text that was the first of its identity. */
  constructor(list: ListDefinition, texts: InternTable, valuesOf: (text: number) => RecordValues) {
    [this.#list, this.#texts, this.#valuesOf] = [list, texts, valuesOf];
  }

  /** The number of the first text of a record's identity, which can be its own. */
  firstTextOf(each: MirrorRecord): number {
    const { key, contents, offset } = each;
    this.#time[0] = key;
    const time = this.#times.numberOf(this.#timeBytes);
    this.#firstOfTime = withRoom(this.#firstOfTime, time + 1);
    const first = this.#firstOfTime[time] as number;
    if (first === 0) {
      const text = this.#texts.numberOf(contents, offset);
      this.#firstOfTime[time] = text;
      return text;
    }
    if (this.#texts.find(contents, offset) === first) return first;
    // Of the time's first text the identity was not made until now.
    if (this.#shared.add(time)) this.#firstWith(this.#valuesOf(first), () => first);
    return this.#firstWith(each, () => this.#texts.numberOf(contents, offset));
  }

  /** The first text of an identity; for a new one that of these values. */
  #firstWith(values: RecordValues, textOf: () => number): number {
    writeHash16(identityOf(this.#list, values), this.#hash, 0);
    const identity = this.#identities.numberOf(this.#hash);
    this.#firstOfIdentity = withRoom(this.#firstOfIdentity, identity + 1);
    this.#firstOfIdentity[identity] ||= textOf();
    return this.#firstOfIdentity[identity] as number;
  }
}
