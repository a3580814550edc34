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
  /** The sum of the rows before the run. */
  readonly #sum: Sum;
  readonly #reading: ListReading;
  readonly #knownPages: () => KnownPages | null;
  /** The unshown rows, once the table was read; null before. */
  #rows: readonly UnshownRow[] | null = null;

  /** @param known the known pages; called only if the table is read. */
  constructor({ table, sum }: ListContext, reading: ListReading, known: () => KnownPages | null) {
    this.#table = table;
    this.#sum = sum;
    this.#reading = reading;
    this.#knownPages = known;
  }

  /** The known pages, if any came again; otherwise null. */
  get #known(): KnownPages | null {
    const known = this.#knownPages();
    return known?.areMet === true ? known : null;
  }

  /** The rows of the table that were not shown until now, in the order of their ids. */
  all(): readonly UnshownRow[] {
    this.#rows = (this.#rows ?? this.#goThrough()).filter(row => this.#isUnshown(row));
    return this.#rows;
  }

  /** Forgets rows that were removed from the table. */
  forget(ids: ReadonlySet<number>): void {
    this.#rows = this.#rows?.filter(({ id }) => !ids.has(id)) ?? null;
  }

  /** The sum of the rows that only known pages show, which were not parsed; to be called before any row is removed. */
  knownSum(): Sum {
    if (this.#known === null) return new Sum();
    const sum = this.#sum.minus(this.#reading.startSum);
    for (const { id } of this.all()) sum.subtractHex(this.#table.read(id).content);
    return sum;
  }

  /** Reads the table; if pages that were parsed have shown all rows, it need not. */
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
