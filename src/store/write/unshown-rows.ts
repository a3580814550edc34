import { Sum } from '../../contract/sum.ts';
import type { ListTable } from '../tables/list-table.ts';
import type { KnownPages } from './known-pages.ts';
import type { ListContext } from './list-context.ts';
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
  /** What the rows came to before the run. */
  readonly #sum: Sum;
  readonly #reading: ListReading;
  readonly #knownPages: () => KnownPages | null;
  /** Those that were not shown when the table was gone through; null before. */
  #rows: readonly UnshownRow[] | null = null;

  /** @param known the pages that were known; asked for only if the table is gone through. */
  constructor({ table, sum }: ListContext, reading: ListReading, known: () => KnownPages | null) {
    this.#table = table;
    this.#sum = sum;
    this.#reading = reading;
    this.#knownPages = known;
  }

  /** The pages that came again; null if none did. */
  get #known(): KnownPages | null {
    const known = this.#knownPages();
    return known?.areMet === true ? known : null;
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

  /** What the rows come to that only pages show which were known and not read; to be called before any row is removed. */
  knownSum(): Sum {
    if (this.#known === null) return new Sum();
    const sum = this.#sum.minus(this.#reading.startSum);
    for (const { id } of this.all()) sum.subtractHex(this.#table.read(id).content);
    return sum;
  }

  /** Goes through the table; if all rows were shown by pages that were read, there is nothing to look for. */
  #goThrough(): UnshownRow[] {
    if (this.#known === null && this.#table.count() === this.#reading.shownCount) return [];
    const all = this.#known?.othersIn(this.#table) ?? this.#table.keys();
    const rows = new Map<number, UnshownRow>();
    for (const { id, key } of all) if (this.#isUnshown({ id, key })) rows.set(id, { id, key });
    return [...rows.values()].sort((a, b) => a.id - b.id);
  }

  #isUnshown({ id, key }: UnshownRow): boolean {
    return !this.#reading.isShown(id) && this.#known?.show(key) !== true;
  }
}
