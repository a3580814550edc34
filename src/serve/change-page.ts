import type { ChangeFilter } from '../contract/browsable.ts';
import { HttpError } from './http-error.ts';
import { changesLimit } from './limits.ts';
import {
  assertKnown,
  changeParameters,
  changeSort,
  isFiltered,
  type Query,
  readChangeFilter,
  readOrder,
  wholeNumber,
} from './list-query.ts';

/** Where changes are read from: after a cursor that was given before, or after a run; 0 for all. */
export type ChangeStart = { readonly cursor: string } | { readonly sinceRun: number };

/** Which changes are wanted of those, and in which order. */
export interface ChangeChoice {
  readonly filter: ChangeFilter;
  readonly isDescending: boolean;
}

/** Changes of ended runs, in an order that stays. */
export interface ServedChanges {
  /** Each as JSON text. */
  readonly items: readonly string[];
  /** Where the next page begins; what is in it is nobody's business but the source's. */
  readonly cursor: string;
  /** True if nothing is left until the next run ends. */
  readonly isComplete: boolean;
}

/** Gives changes page by page. */
export interface ChangeSource {
  /** @throws HttpError with status 400 if the text is no cursor, or there is no such run; 410 if what came after it can't be told. */
  read(start: ChangeStart, limit: number): ServedChanges;
  /** The same of those that fit; its cursors go on with the same filter alone. */
  filtered?(start: ChangeStart, choice: ChangeChoice, limit: number): Promise<ServedChanges>;
}

const parameters = ['cursor', 'sinceRun', 'limit'];

/**
 * The JSON text of the changes that a query string asks for.
 *
 * @throws HttpError with status 400 that names the parameter that can't be served, and what the source throws.
 */
export async function changePage(source: ChangeSource, query: Query): Promise<string> {
  assertKnown(query, [...parameters, ...(source.filtered === undefined ? [] : changeParameters)]);
  const limit = wholeNumber(query, 'limit', 1, changesLimit.max) ?? changesLimit.default;
  const start = startOf(query);
  const choice = { filter: readChangeFilter(query), isDescending: isNewestFirst(query, false) };
  const page =
    source.filtered !== undefined && isFiltered(query)
      ? await source.filtered(start, choice, limit)
      : source.read(start, limit);
  return `{"items":[${page.items.join(',')}],"cursor":${JSON.stringify(page.cursor)},"isComplete":${page.isComplete}}`;
}

/** True if a query string asks for the newest changes first. */
export function isNewestFirst(query: Query, usually: boolean): boolean {
  return readOrder(query, [changeSort], { sort: changeSort, isDescending: usually }).isDescending;
}

function startOf(query: Query): ChangeStart {
  const { cursor } = query;
  const sinceRun = wholeNumber(query, 'sinceRun', 0, Number.MAX_SAFE_INTEGER);
  if (cursor === undefined) return { sinceRun: sinceRun ?? 0 };
  if (typeof cursor !== 'string' || sinceRun !== null)
    throw new HttpError(400, 'cursor must be given at most once, and not beside sinceRun.');
  return { cursor };
}
