import type { Sum } from '../contract/sum.ts';

/** One answer of the service, as the proof sees it: numbers and sums, no HTTP and no rows. */
export interface Answer {
  /** The page's place in the list by what was asked for, from 0. */
  readonly index: number;
  /** The answer's own `totalRecordCount`. */
  readonly total: number;
  /** How many items it holds. */
  readonly count: number;
  /** 32 hexadecimal digits over the items' bytes. */
  readonly digest: string;
  /** Over all its items; a rejected one counts by its text. */
  readonly sum: Sum;
  /** Over the rejected ones among them; null where there are none. */
  readonly rejected: Sum | null;
}

/** What was read of a page's items, in their order. */
export interface ReadItems {
  /** 16 bytes an item. */
  readonly contents: Buffer;
  /** The service's ids, NaN for a rejected item; null in a list without ids. */
  readonly ids: Float64Array | null;
  /** The mirror's rows that hold the same content; NaN where there is none, `rejectedRow` where the item was rejected. */
  readonly rows: Float64Array;
}

/** Stands in the place of a row for an item that was rejected: no row is to hold it. */
export const rejectedRow: number = Number.POSITIVE_INFINITY;

/** Finds the items of a page by its digest; null where the page was known and therefore not read. */
export type ItemsOf = (digest: string) => ReadItems | null;

/**
 * From where the places of a list are counted. In a list that grows at its end a record keeps its place from the front, in one
 * that grows at its front its place from the back.
 */
export type Counting = 'front' | 'back';
