// The numbers of records and of their texts. Known rows cost a bit each; texts that the mirror lacks are staged in a temporary table.

import type Database from 'better-sqlite3';
import type { RecordValues } from '../../contract/content.ts';
import { type ListDefinition, type Scalar, scalarFields } from '../../contract/lists.ts';
import { contentBytesOf, type MirrorRecord } from '../../contract/record.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import type { KnownRow } from '../../proof/reconcile.ts';
import type { RecordNo, VersionNo } from '../../proof/record-no.ts';
import * as no from '../../proof/record-no.ts';
import { BitSet, InternTable } from './compact-sets.ts';
import { Identities } from './identities.ts';
import { KnownForms } from './known-forms.ts';
import type { ItemsRead } from './known-items.ts';
import { type ListSql, rowsPerInsert } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import { NewIdentities } from './new-identities.ts';

/**
 * The records that pages have shown of a list. For most it remembers a bit or two: those of one version, with one row or none. The others
 * are open until `reconcile` has seen all answers.
 */
export class Records {
  readonly context: ListContext;
  readonly sql: ListSql;
  readonly identities: Identities;
  /** Numbers the contents of all versions. */
  readonly texts = new InternTable();
  /** Rows that answers have shown as they are; rows that share an identity are not among them. */
  readonly rows = new BitSet();
  /** The sum of all rows that were shown as they are, each once. */
  readonly rowSum = new Sum();
  /** Records of which versions are staged, how many of them have a row, and the sum of these versions, each once. */
  readonly staged = new BitSet();
  stagedRows = 0;
  readonly stagedSum = new Sum();
  readonly open = new Set<no.RecordNo>();
  /** Versions with a number that answers have shown. */
  readonly #versions = new BitSet();
  readonly #forms: KnownForms;
  readonly #staging: Staging;

  constructor(context: ListContext, sql: ListSql) {
    [this.context, this.sql] = [context, sql];
    this.#forms = new KnownForms(context, sql);
    this.#staging = new Staging(context, sql);
    const valuesOf = (text: number) => this.#staging.valuesOf(no.ofNew(text), no.ofText(text));
    const newOnes = new NewIdentities(context.list, this.texts, valuesOf);
    this.identities = new Identities(context, sql, this.#forms, newOnes);
  }

  /**
   * Numbers a page's records: those that are known to be rows, and `parsed` ones, of which `found` has rows with their contents. Stages the
   * others, and returns the keys of what the mirror lacks.
   */
  number(
    { items, keys, known }: ItemsRead,
    parsed: readonly MirrorRecord[],
    found: readonly (number | undefined)[],
    into: no.ShownRecords,
  ): number[] {
    for (const record of this.identities.findDuplicates(keys)) this.open.add(record);
    for (const { place, rows, contents } of known)
      for (const [at, row] of rows.entries()) this.#show(row, contents, at * contentBytes, into, place + at);
    const lacking = new Set<number>();
    for (const [at, each] of parsed.entries()) {
      const { position, contents, offset } = each;
      const row = found[at] ?? this.#stage(each, into);
      if (row === null) lacking.add(position);
      else this.#show(row, contents, offset, into, position);
    }
    this.#staging.write();
    // A page that is known as a whole shows each of its rows once.
    for (const at of items === null ? [] : repeatedIn(into)) {
      const record = into.records[at] as no.RecordNo;
      this.open.add(record);
      const count = into.records.subarray(0, at + 1).filter(other => other === record).length;
      if (count > (this.identities.rowsOfDuplicates.get(record)?.length ?? 1)) lacking.add(at);
    }
    return Array.from(lacking, at => keys[at] as number);
  }

  /** Numbers a record that can't be read. */
  numberRejected(key: number, content: Uint8Array, into: no.ShownRecords, position: number): void {
    into.records[position] = this.identities.ofRejected(key, content);
    into.versions[position] = no.unreadable;
  }

  #show(row: number, contents: Uint8Array, offset: number, into: no.ShownRecords, position: number): void {
    const duplicate = this.identities.duplicates.get(row);
    const record = duplicate?.record ?? this.identities.ofRow(row);
    const isNew = duplicate === undefined ? this.rows.add(row) : this.#versions.add(duplicate.version);
    if (isNew) this.rowSum.add(contents, offset);
    if (isNew && this.staged.has(record)) this.open.add(record);
    into.records[position] = record;
    into.versions[position] = duplicate?.version ?? no.asItsRow;
  }

  /** Stages a record in the form that is known of it; unless a row means the same, which is then returned. */
  #stage(each: MirrorRecord, into: no.ShownRecords): number | null {
    const first = this.#forms.ofRowOf(each);
    const record = this.identities.ofText(each, first?.row);
    const staged = this.staged.has(record) ? record : null;
    const isToDress =
      (first !== undefined || staged !== null) && this.texts.find(each.contents, each.offset) === null;
    const known = { first, duplicates: this.identities.rowsOfDuplicates.get(record), staged };
    const dressed = isToDress ? this.#forms.dress(each, known) : { record: each, row: null };
    if (dressed.row !== null) return dressed.row;
    const { position, contents, offset } = dressed.record;
    const version = no.ofText(this.texts.numberOf(contents, offset));
    into.records[position] = record;
    into.versions[position] = version;
    if (!this.#versions.add(version)) return null;
    this.stagedSum.add(contents, offset);
    this.#staging.add(record, version, dressed.record);
    const isFirst = this.staged.add(record);
    if (isFirst && first !== undefined) this.stagedRows++;
    if (!isFirst || this.rows.has(record)) this.open.add(record);
    return null;
  }

  /** The number under which a version is staged. That of a row is staged here, so that another row can get it. */
  stagedVersion(record: no.RecordNo, version: no.VersionNo): no.VersionNo {
    const known = this.#rowWith(record, version);
    if (known === undefined) return version;
    const { record: values, sortKey, content } = this.context.table.read(known.row);
    const contents = Buffer.from(content, 'hex');
    const staged = no.ofText(this.texts.numberOf(contents));
    this.#staging.add(record, staged, { ...values, key: sortKey ?? Number.NaN, contents, offset: 0 });
    this.#staging.write();
    return staged;
  }

  /** The values of a version, staged or of a row. */
  valuesOf(record: no.RecordNo, version: no.VersionNo): RecordValues {
    const known = this.#rowWith(record, version);
    if (known === undefined) return this.#staging.valuesOf(record, version);
    return this.context.table.read(known.row).record;
  }

  #rowWith(record: no.RecordNo, version: no.VersionNo): KnownRow | undefined {
    return this.identities.rowsOf(record).find(known => known.version === version);
  }
}

/** A version that the mirror lacks, under its numbers. */
interface StagedVersion {
  readonly record: RecordNo;
  readonly version: VersionNo;
  readonly values: Omit<MirrorRecord, 'position' | 'mentions'>;
}

/** The versions that the mirror lacks, in a temporary table, each under its number. */
class Staging {
  readonly #list: ListDefinition;
  readonly #sql: ListSql;
  /** Versions that are not written yet. */
  readonly #waiting: StagedVersion[] = [];
  /** The values of versions that are written together; one array for all statements. */
  readonly #bound: (Scalar | Buffer)[];
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #read: Database.Statement<[number], Record<string, Scalar>>;

  constructor({ list, sqlite }: ListContext, sql: ListSql) {
    [this.#list, this.#sql] = [list, sql];
    this.#bound = new Array(sql.width * rowsPerInsert).fill(null);
    this.#insert = sqlite.prepare(sql.insert);
    this.#insertMany = sqlite.prepare(sql.insertMany);
    this.#read = sqlite.prepare(sql.staged);
  }

  add(record: RecordNo, version: VersionNo, values: StagedVersion['values']): void {
    this.#waiting.push({ record, version, values });
  }

  write(): void {
    const [bound, { width }] = [this.#bound, this.#sql];
    let end = 0;
    for (const each of this.#waiting) {
      end = this.#bind(each, end);
      if (end < bound.length) continue;
      this.#insertMany.run(bound);
      end = 0;
    }
    for (let at = 0; at < end; at += width) this.#insert.run(bound.slice(at, at + width));
    this.#waiting.length = 0;
  }

  /** Puts the values of a version at a place, and returns the place behind them. */
  #bind({ record, version, values }: StagedVersion, from: number): number {
    const { scalars, key, extra, arrays } = values;
    const bound = this.#bound;
    let at = from;
    bound[at++] = version;
    bound[at++] = record;
    if (this.#list.identity.by !== 'id') bound[at++] = key;
    for (const value of scalars) bound[at++] = value;
    bound[at++] = extra;
    bound[at++] = contentBytesOf(values);
    if (this.#sql.hasArrays) bound[at++] = JSON.stringify(arrays);
    return at;
  }

  valuesOf(record: RecordNo, version: VersionNo): RecordValues {
    const waiting = this.#waiting.findLast(each => each.version === version);
    if (waiting !== undefined) return waiting.values;
    const staged = this.#read.get(version) ?? {};
    return {
      id: this.#list.identity.by === 'id' ? record : null,
      scalars: scalarFields(this.#list).map(({ column }) => staged[column] ?? null),
      arrays: JSON.parse(String(staged.arrays ?? '[]')),
      extra: (staged._extra ?? null) as string | null,
    };
  }
}

/** The places of records that a page has shown before them. */
function* repeatedIn({ records, versions }: no.ShownRecords): Generator<number> {
  const seen = new Set<RecordNo>();
  for (const [at, record] of records.entries()) {
    const { size } = seen;
    if (versions[at] !== no.unreadable && seen.add(record).size === size) yield at;
  }
}
