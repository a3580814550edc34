// Which of those with one identity a record is: rows can share one, and new texts can.

import type Database from 'better-sqlite3';
import type { MirrorRecord } from '../../contract/record.ts';
import { hash16, type Sum } from '../../contract/sum.ts';
import type { LearntOrder } from '../../proof/order.ts';
import type { KnownRow } from '../../proof/reconcile.ts';
import * as no from '../../proof/record-no.ts';
import type { Ties } from '../../proof/ties.ts';
import { InternTable } from './compact-sets.ts';
import type { KnownForms } from './known-forms.ts';
import type { ListSql } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import type { NewIdentities } from './new-identities.ts';
import { type NotedKeys, SharedKeys } from './shared-keys.ts';

/** Which record a row is, which record a text is, and which rows a record has. */
export class Identities {
  readonly #context: ListContext;
  readonly #sql: ListSql;
  readonly #forms: KnownForms;
  readonly #new: NewIdentities;
  readonly #rejected = new InternTable();
  /** Rows that share an identity, each with its record and version; and the rows of these records. */
  readonly duplicates = new Map<number, { readonly record: no.RecordNo; readonly version: no.VersionNo }>();
  readonly rowsOfDuplicates = new Map<no.RecordNo, readonly KnownRow[]>();
  /** Rows of this key and greater ones, and those without a key, were searched for duplicates. */
  #searchedFrom: number | null = null;
  readonly #duplicateRows: Database.Statement<object, string> | null;
  readonly isOfIds: boolean;

  /** Null if nobody has asked for ties: then a part of the list might be all that is read. */
  #shared: SharedKeys | null = null;

  constructor(context: ListContext, sql: ListSql, forms: KnownForms, newOnes: NewIdentities) {
    [this.#context, this.#sql, this.#forms, this.#new] = [context, sql, forms, newOnes];
    const { duplicates } = sql;
    this.isOfIds = context.list.identity.by === 'id';
    const isNone = duplicates === null || context.sum.count === 0;
    this.#duplicateRows = isNone ? null : context.sqlite.prepare<object, string>(duplicates).pluck();
  }

  /** Where at least so many rows share a key, for a list that was in the order of such keys without exceptions; null if none need be known. */
  tiesOf(order: LearntOrder, least: number, noted: NotedKeys | undefined): Ties | null {
    const isExact = order !== null && order !== 'none' && order.lateness === 0 && order.outliers === 0;
    if (!isExact || this.isOfIds) return null;
    const { sqlite, sum } = this.#context;
    this.#shared ??= new SharedKeys(sqlite, this.#sql, sum, noted);
    return this.#shared.ties(least);
  }

  /** The keys that rows share, for the next run, if the rows stay as they were; undefined if nobody has asked for them. */
  sharedKeysOf(rows: Sum): NotedKeys | undefined {
    return rows.equals(this.#context.sum) ? this.#shared?.noteOf(rows) : undefined;
  }

  /** Finds rows that share an identity, down to the least of some keys: at the growing end these are few. Returns their records. */
  findDuplicates(keys: Iterable<number>): readonly no.RecordNo[] {
    if (this.#duplicateRows === null) return [];
    const to = this.#searchedFrom ?? Number.POSITIVE_INFINITY;
    let from = to;
    for (const key of keys) if (key < from) from = key;
    if (from === this.#searchedFrom) return [];
    this.#searchedFrom = from;
    const areShared = this.#shared?.areIn(from, to) !== false;
    // Rows without a key are found with the first ones.
    if (!areShared && to !== Number.POSITIVE_INFINITY) return [];
    return this.#duplicateRows.all({ from: areShared ? from : to, to }).map(json => {
      const found: readonly { readonly row: number; readonly content: string }[] = JSON.parse(json);
      const rows = found.map(({ row, content }) => ({ row, version: this.#versionOf(row, content) }));
      rows.sort((a, b) => a.row - b.row);
      const record = no.ofRow((rows[0] as KnownRow).row);
      for (const { row, version } of rows) this.duplicates.set(row, { record, version });
      this.rowsOfDuplicates.set(record, rows);
      return record;
    });
  }

  /** A row that no record finds has a version that no record has. */
  #versionOf(row: number, content: string): no.VersionNo {
    const isUnlike = this.#context.table.isUnlike(row);
    return no.ofText(this.#new.texts.numberOf(isUnlike ? hash16(`row ${row}`) : Buffer.from(content, 'hex')));
  }

  /** The rows of a record, each with its version. */
  rowsOf(record: no.RecordNo): readonly KnownRow[] {
    const hasRow = () => (this.isOfIds ? this.#forms.hasRow(record) : no.isOfRow(record));
    return this.rowsOfDuplicates.get(record) ?? (hasRow() ? [{ row: record, version: no.asItsRow }] : []);
  }

  /** The record of a row that shares its identity with no other one. */
  ofRow(row: number): no.RecordNo {
    return this.isOfIds ? no.ofId(row) : no.ofRow(row);
  }

  /** The record of a text whose identity has this first row, or undefined. */
  ofText(each: MirrorRecord, row: number | undefined): no.RecordNo {
    if (each.id !== null) return no.ofId(each.id);
    if (row !== undefined) return no.ofRow(row);
    return no.ofNew(this.#new.firstTextOf(each));
  }

  /** A record that can't be read: it is the same if it comes again, and none of the mirror. */
  ofRejected(key: number, content: Uint8Array): no.RecordNo {
    const hasId = this.isOfIds && !Number.isNaN(key);
    return hasId ? no.ofId(key) : no.ofRejected(this.#rejected.numberOf(content));
  }
}
