import { allPlaces, partsOf } from '../../proof/parts.ts';
import type { SeenWalk } from '../../sync/ports.ts';
import type { ListTable, NewRecord } from '../tables/list-table.ts';
import { IdSet } from './id-set.ts';
import { RowMarks } from './list-comparison.ts';
import { itemsOfStaged, readStaged } from './page-comparison.ts';
import type { RowWriter } from './row-writer.ts';
import type { KeptPage } from './staging.ts';

/**
 * Stores all that was seen where no reading is proven: each content as often as the walk that had most of it. Nothing is removed,
 * and in a list without ids nothing is replaced; of an id, the newest version that was seen is kept.
 */
export class SeenRows {
  readonly #table: ListTable;
  readonly #writer: RowWriter;
  /** Finds a page that was read by its digest; null for one that was known and not read, whose records the mirror has. */
  readonly #pageOf: (digest: string) => KeptPage | null;
  /** The ids that were met; null in a list without ids. */
  readonly #handled: IdSet | null;

  constructor(table: ListTable, writer: RowWriter, pageOf: (digest: string) => KeptPage | null) {
    this.#table = table;
    this.#writer = writer;
    this.#pageOf = pageOf;
    this.#handled = table.list.identity.by === 'id' ? new IdSet() : null;
  }

  /** Stores what the walks saw, which are given in the order in which they were made. */
  store(walks: readonly SeenWalk[]): void {
    // Of an id, what is met first is kept: so the newest goes first.
    for (const walk of this.#handled === null ? walks : walks.toReversed()) this.#storeWalk(walk);
  }

  #storeWalk({ strip, pages }: SeenWalk): void {
    if (strip !== null) {
      const marks = new RowMarks(this.#table);
      for (const { answer, items } of partsOf(strip, allPlaces(strip))) {
        this.#storePage(answer.digest, items.from, items.to, marks);
      }
      return;
    }
    // Of a walk that is contradicted, only what one answer holds is known to stand side by side.
    for (const { digest, count } of this.#handled === null ? pages : pages.toReversed()) {
      this.#storePage(digest, 0, count, new RowMarks(this.#table));
    }
  }

  #storePage(digest: string, from: number, to: number, marks: RowMarks): void {
    const page = this.#pageOf(digest);
    if (page === null) return;
    const { rows, ids } = itemsOfStaged(page);
    const unknown: number[] = [];
    for (let at = from; at < to; at++) {
      const id = ids?.[at] ?? Number.NaN;
      if (!Number.isNaN(id) && this.#handled?.add(id) === false) continue;
      const row = rows[at] as number;
      if (Number.isNaN(row)) unknown.push(at);
      else if (Number.isFinite(row) && !marks.mark(row) && this.#handled === null)
        marks.mark(this.#writer.insert(this.#table.recordOf(row)));
    }
    if (unknown.length === 0) return;
    for (const { record } of readStaged(this.#table.list, page, unknown)) this.#storeRecord(record, marks);
  }

  #storeRecord(record: NewRecord, marks: RowMarks): void {
    const row = this.#table.find(record);
    if (row !== undefined && marks.mark(row)) return;
    if (record.id === null) marks.mark(this.#writer.insert(record));
    else if (row !== undefined) return;
    else if (this.#table.has(record.id)) this.#writer.update(record.id, record);
    else this.#writer.insert(record);
  }
}
