import type Database from 'better-sqlite3';
import type { Sum } from '../../contract/sum.ts';
import { Ties } from '../../proof/ties.ts';
import type { ListSql } from './list-sql.ts';

/** The same for the next run, with the sum of the rows. */
export interface NotedKeys {
  readonly of: string;
  readonly keys: readonly number[];
  readonly counts: readonly number[];
}

/** More keys are not noted. */
const notedMax = 1_000;
const nameOf = (rows: Sum): string => `${rows.count} ${rows}`;

/**
 * The keys that several rows of a list without ids have, which each full run needs. They are found at once, in one walk over the index,
 * unless they were noted of the same rows.
 */
export class SharedKeys {
  readonly #sqlite: Database.Database;
  readonly #sql: ListSql;
  /** The least first, and how many rows have each. */
  readonly #keys: Float64Array;
  readonly #counts: Float64Array;

  constructor(sqlite: Database.Database, sql: ListSql, rows: Sum, noted: NotedKeys | undefined) {
    [this.#sqlite, this.#sql] = [sqlite, sql];
    const find = () => {
      const found = sqlite.prepare<[], Record<'keys' | 'counts', string>>(sql.sharedKeys).get();
      return { keys: JSON.parse(found?.keys ?? '[]'), counts: JSON.parse(found?.counts ?? '[]') };
    };
    const { keys, counts } = noted?.of === nameOf(rows) ? noted : find();
    [this.#keys, this.#counts] = [Float64Array.from(keys), Float64Array.from(counts)];
  }

  /** Notes them for a run that finds the same rows; undefined if they are many. */
  noteOf(rows: Sum): NotedKeys | undefined {
    if (this.#keys.length > notedMax) return undefined;
    return { of: nameOf(rows), keys: [...this.#keys], counts: [...this.#counts] };
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
