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

/** The start of reading changes: after a cursor from an earlier page, or after a run. Run 0 gives all changes. */
export type ChangeStart = { readonly cursor: string } | { readonly sinceRun: number };

/** The filter and the order of changes. */
export interface ChangeChoice {
  readonly filter: ChangeFilter;
  readonly isDescending: boolean;
}

/** Changes of ended runs, in a stable order. */
export interface ServedChanges {
  /** Each as JSON text. */
  readonly items: readonly string[];
  /** The start of the next page. Only the source understands its content. */
  readonly cursor: string;
  /** True if nothing is left until the next run ends. */
  readonly isComplete: boolean;
}

/** Gives changes page by page. */
export interface ChangeSource {
  /** @throws HttpError with status 400 if the text is no cursor or the run does not exist; 410 if the changes after it are unknown. */
  read(start: ChangeStart, limit: number): ServedChanges;
  /** The same for changes that match. Its cursors are valid only with the same filter. */
  filtered?(start: ChangeStart, choice: ChangeChoice, limit: number): Promise<ServedChanges>;
}

const parameters = ['cursor', 'sinceRun', 'limit'];

/**
 * The JSON text of the changes that a query string asks for.
 *
 * @throws HttpError with status 400 that names the parameter that can't be served, and any error of the source.
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
