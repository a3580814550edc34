import type Database from 'better-sqlite3';
import { Ties } from '../../proof/ties.ts';
import type { ListSql } from './list-sql.ts';

/** The keys that several rows of a list without ids have. They are found at once, in one walk over the index: each full run needs them. */
export class SharedKeys {
  readonly #sqlite: Database.Database;
  readonly #sql: ListSql;
  /** The least first, and how many rows have each. */
  readonly #keys: Float64Array;
  readonly #counts: Float64Array;

  constructor(sqlite: Database.Database, sql: ListSql) {
    [this.#sqlite, this.#sql] = [sqlite, sql];
    const found = sqlite.prepare<[], { keys: string; counts: string }>(sql.sharedKeys).get();
    const [keys, counts]: [number[], number[]] = [
      JSON.parse(found?.keys ?? '[]'),
      JSON.parse(found?.counts ?? '[]'),
    ];
    [this.#keys, this.#counts] = [Float64Array.from(keys), Float64Array.from(counts)];
  }

  /** Whether one of them is from a key on, and before another one. */
  areIn(from: number, to: number): boolean {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#keys[middle] as number) >= from) high = middle;
      else low = middle + 1;
    }
    return low < this.#keys.length && (this.#keys[low] as number) < to;
  }

  /** Those that at least so many rows have. */
  ties(least: number): Ties {
    const countBetween = this.#sqlite.prepare<[number, number], number>(this.#sql.countBetween).pluck();
    let [from, before] = [Number.NEGATIVE_INFINITY, 0];
    const ties = [];
    for (const [at, count] of this.#counts.entries()) {
      if (count < least) continue;
      const key = this.#keys[at] as number;
      before += countBetween.get(from, key) ?? 0;
      from = key;
      ties.push({ key, count, before });
    }
    return new Ties(ties);
  }
}
