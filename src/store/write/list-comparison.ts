import type { RecordValues } from '../../contract/content.ts';
import { scalarFields } from '../../contract/lists.ts';
import { allPlaces, partsOf } from '../../proof/parts.ts';
import type { Strip } from '../../proof/strip.ts';
import type { ListTable, NewRecord } from '../tables/list-table.ts';
import { IdSet } from './id-set.ts';
import { itemsOfStaged, newOn } from './page-comparison.ts';
import type { KeptPage } from './staging.ts';

/** How a list that was read differs from the mirror's rows, record for record. */
export type RecordDifference =
  | { readonly kind: 'new'; readonly record: NewRecord; readonly place: number }
  /** A row whose key is that of a new record: another version of it. */
  | { readonly kind: 'changed'; readonly row: number; readonly record: NewRecord }
  | { readonly kind: 'gone'; readonly row: number };

/**
 * Compares a strip with the mirror's rows as multisets of contents. What the strip has and the mirror lacks is new, what the
 * mirror has and the strip lacks is gone; a new one and a gone one of the same key are a change. It yields and decides nothing.
 */
export class ListComparison {
  readonly #table: ListTable;
  readonly #pageOf: (digest: string) => KeptPage;
  readonly #rows: RowMarks;
  readonly #hasIds: boolean;

  /** @param pageOf finds a page that was read by its digest. */
  constructor(table: ListTable, pageOf: (digest: string) => KeptPage) {
    this.#table = table;
    this.#pageOf = pageOf;
    this.#hasIds = table.list.identity.by === 'id';
    this.#rows = new RowMarks(table);
  }

  /** The differences; rows may be written while they are taken, as they say. */
  *differences(strip: Strip): Generator<RecordDifference> {
    const copies = this.#mark(strip);
    const gone = this.#rows.unmarked();
    const taken = new IdSet();
    const partners = this.#hasIds ? null : new GoneByKey(this.#table, gone);
    const isFree = (row: number) => !this.#rows.has(row) && !taken.has(row);
    const match = (record: NewRecord, place: number): RecordDifference => {
      const row = partners === null ? this.#rowOfId(record.id as number) : partners.take(record, isFree);
      if (row === undefined) return { kind: 'new', record, place };
      taken.add(row);
      return { kind: 'changed', row, record };
    };
    for (const { row, place } of copies) {
      yield match(this.#table.recordOf(row), place);
    }
    for (const { answer, items, placeOf } of partsOf(strip, allPlaces(strip))) {
      const added = newOn(this.#table.list, this.#pageOf(answer.digest), items);
      for (const { record, position } of added) yield match(record, placeOf(position));
    }
    for (const row of gone) if (!taken.has(row)) yield { kind: 'gone', row };
  }

  /** Marks the rows that the strip's records stand for, and returns those of which it holds one more than there are. */
  #mark(strip: Strip): { row: number; place: number }[] {
    const copies: { row: number; place: number }[] = [];
    for (const { answer, items, placeOf } of partsOf(strip, allPlaces(strip))) {
      const { rows } = itemsOfStaged(this.#pageOf(answer.digest));
      for (let at = items.from; at < items.to; at++) {
        const row = rows[at] as number;
        if (Number.isFinite(row) && !this.#rows.mark(row)) copies.push({ row, place: placeOf(at) });
      }
    }
    return copies;
  }

  #rowOfId(id: number): number | undefined {
    return this.#table.has(id) ? id : undefined;
  }
}

/** Marks rows, each once; among rows of one content it finds the next one that is free. Linear however many there are. */
export class RowMarks {
  readonly #table: ListTable;
  readonly #marked = new IdSet();
  /** The row that was marked last among those of the same content, by the first of them. */
  readonly #last = new Map<number, number>();

  constructor(table: ListTable) {
    this.#table = table;
  }

  /** Marks the row or, where it is marked already, the next one with the same content; false where none is free. */
  mark(row: number): boolean {
    if (this.#marked.add(row)) return true;
    if (this.#table.list.identity.by === 'id') return false;
    const record = this.#table.recordOf(row);
    for (let last = this.#last.get(row) ?? row; ; ) {
      const next = this.#table.findAfter(record, last);
      if (next === undefined) return false;
      this.#last.set(row, next);
      if (this.#marked.add(next)) return true;
      last = next;
    }
  }

  has(row: number): boolean {
    return this.#marked.has(row);
  }

  /** The rows that are not marked, in the order of their ids. */
  unmarked(): number[] {
    if (this.#table.count() === this.#marked.size) return [];
    const rows: number[] = [];
    for (const id of this.#table.ids()) if (!this.#marked.has(id)) rows.push(id);
    return rows;
  }
}

/** Rows that are gone, by the key that makes two contents versions of one record. */
class GoneByKey {
  readonly #rows = new RowsByText();
  readonly #keyAt: readonly number[];

  constructor(table: ListTable, gone: readonly number[]) {
    const { identity } = table.list;
    const scalars = scalarFields(table.list);
    const fields = identity.by === 'content' ? identity.fields : [];
    this.#keyAt = fields.map(name => scalars.findIndex(field => field.name === name));
    for (const row of gone) this.#rows.add(this.#keyOf(table.read(row).record), row);
  }

  /** A row with the key of a record, once, if it is free. */
  take(record: RecordValues, isFree: (row: number) => boolean): number | undefined {
    return this.#rows.isEmpty ? undefined : this.#rows.take(this.#keyOf(record), isFree);
  }

  #keyOf({ scalars }: RecordValues): string {
    return JSON.stringify(this.#keyAt.map(at => scalars[at]));
  }
}

/** Rows by a text that several may share, each handed out once. */
export class RowsByText {
  readonly #rows = new Map<string, number[]>();

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  add(text: string, row: number): void {
    const rows = this.#rows.get(text);
    if (rows === undefined) this.#rows.set(text, [row]);
    else rows.push(row);
  }

  /** A row of that text that is free; one that is not is never asked for again. */
  take(text: string, isFree: (row: number) => boolean): number | undefined {
    const rows = this.#rows.get(text);
    for (let row = rows?.pop(); row !== undefined; row = rows?.pop()) if (isFree(row)) return row;
    return undefined;
  }
}
