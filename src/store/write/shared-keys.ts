import type { Sum } from '../../contract/sum.ts';
import type { LearntOrder } from '../../proof/order.ts';
import { Ties } from '../../proof/plan.ts';
import type { ListSql } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import type { NotedKeys } from './sync-state.ts';

/** More keys are not noted. */
const notedMax = 1_000;
const nameOf = (rows: Sum): string => `${rows.count} ${rows}`;

/**
 * The keys that several rows of a list without ids have, which each full run needs. They are found at once, in one walk over the index,
 * unless they were noted of the same rows.
 */
export class SharedKeys {
  readonly #context: ListContext;
  readonly #sql: ListSql;
  readonly #noted: NotedKeys | undefined;
  /** The least first, and how many rows have each. */
  #keys = new Float64Array();
  #counts = new Float64Array();
  /** False if nobody has asked for ties: then a part of the list might be all that is read. */
  #areFound = false;

  constructor(context: ListContext, sql: ListSql, noted: NotedKeys | undefined) {
    [this.#context, this.#sql, this.#noted] = [context, sql, noted];
  }

  /** Where at least so many rows share a key, for a list that was in the order of such keys without exceptions; null if none need be known. */
  ties(order: LearntOrder, least: number): Ties | null {
    const isExact = order !== null && order !== 'none' && order.lateness === 0 && order.outliers === 0;
    const { list, sqlite } = this.#context;
    if (!isExact || list.identity.by === 'id') return null;
    if (!this.#areFound) this.#find();
    const countBetween = sqlite.prepare<[number, number], number>(this.#sql.countBetween).pluck();
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

  #find(): void {
    const { sqlite, sumBefore: rows } = this.#context;
    const noted = this.#noted;
    const find = () => {
      const found = sqlite.prepare<[], Record<'keys' | 'counts', string>>(this.#sql.sharedKeys).get();
      return { keys: JSON.parse(found?.keys ?? '[]'), counts: JSON.parse(found?.counts ?? '[]') };
    };
    const { keys, counts } = noted?.of === nameOf(rows) ? noted : find();
    [this.#keys, this.#counts] = [Float64Array.from(keys), Float64Array.from(counts)];
    this.#areFound = true;
  }

  /** Whether one of them is from a key on, and before another one; true if nobody knows. */
  areIn(from: number, to: number): boolean {
    if (!this.#areFound) return true;
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#keys[middle] as number) >= from) high = middle;
      else low = middle + 1;
    }
    return low < this.#keys.length && (this.#keys[low] as number) < to;
  }

  /** Notes them for the next run, if it finds the same rows; undefined if there are many, or if nobody has asked for them. */
  noteOf(rows: Sum): NotedKeys | undefined {
    const isOfRows = this.#areFound && rows.equals(this.#context.sumBefore);
    if (!isOfRows || this.#keys.length > notedMax) return undefined;
    return { of: nameOf(rows), keys: [...this.#keys], counts: [...this.#counts] };
  }
}
