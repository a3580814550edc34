import { Sum } from '../../contract/sum.ts';
import type { ListTable } from '../tables/list-table.ts';
import type { KnownPages } from './known-pages.ts';
import type { ListReading } from './list-reading.ts';

/** A row that no answer of the run has shown. */
export interface UnshownRow {
  readonly id: number;
  /** NaN if it has none. */
  readonly key: number;
}

/** The rows of a list that no answer of a run has shown. */
export class UnshownRows {
  readonly #table: ListTable;
  readonly #reading: ListReading;
  readonly #known: KnownPages;
  /** Those that were not shown when the table was gone through; null before. */
  #rows: readonly UnshownRow[] | null = null;
  #knownSum = new Sum();
  /** How many rows had been shown then by pages that were read. */
  #shownThen = -1;

  constructor(table: ListTable, reading: ListReading, known: KnownPages) {
    this.#table = table;
    this.#reading = reading;
    this.#known = known;
  }

  /** The rows that are in the table and were not shown until now, in the order of their ids. */
  all(): readonly UnshownRow[] {
    this.#rows = (this.#rows ?? this.#goThrough()).filter(row => this.#isUnshown(row));
    return this.#rows;
  }

  /** Forgets rows that are not in the table any more. */
  forget(ids: ReadonlySet<number>): void {
    this.#rows = this.#rows?.filter(({ id }) => !ids.has(id)) ?? null;
  }

  /** What the rows come to that only pages show which were known and not read. */
  knownSum(): Sum {
    if (this.#known.areMet && this.#shownThen !== this.#reading.shownCount) this.#goThrough();
    return this.#knownSum;
  }

  /** Goes through the table; if all rows were shown by pages that were read, there is nothing to look for. */
  #goThrough(): UnshownRow[] {
    this.#knownSum = new Sum();
    this.#shownThen = this.#reading.shownCount;
    if (!this.#known.areMet && this.#table.count() === this.#reading.shownCount) return [];
    const rows: UnshownRow[] = [];
    for (const { id, key, content } of this.#table.keysAndContents()) {
      if (this.#reading.isShown(id)) continue;
      if (this.#known.show(key)) this.#knownSum.addHex(content);
      else rows.push({ id, key });
    }
    return rows;
  }

  #isUnshown({ id, key }: UnshownRow): boolean {
    return !this.#reading.isShown(id) && !this.#known.show(key);
  }
}
