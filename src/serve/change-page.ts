import { HttpError } from './http-error.ts';
import { changesLimit } from './limits.ts';
import { type Query, wholeNumber } from './list-page.ts';

/** Where changes are read from: after a cursor that was given before, or after a run; 0 for all. */
export type ChangeStart = { readonly cursor: string } | { readonly sinceRun: number };

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
}

const parameters = ['cursor', 'sinceRun', 'limit'];

/**
 * The JSON text of the changes that a query string asks for.
 *
 * @throws HttpError with status 400 that names the parameter that can't be served, and what the source throws.
 */
export function changePage(source: ChangeSource, query: Query): string {
  const unknown = Object.keys(query).find(name => !parameters.includes(name));
  if (unknown !== undefined)
    throw new HttpError(400, `There is no parameter ${unknown} here, only ${parameters.join(', ')}.`);
  const limit = wholeNumber(query, 'limit', 1, changesLimit.max) ?? changesLimit.default;
  const { items, cursor, isComplete } = source.read(startOf(query), limit);
  return `{"items":[${items.join(',')}],"cursor":${JSON.stringify(cursor)},"isComplete":${isComplete}}`;
}

function startOf(query: Query): ChangeStart {
  const { cursor } = query;
  const sinceRun = wholeNumber(query, 'sinceRun', 0, Number.MAX_SAFE_INTEGER);
  if (cursor === undefined) return { sinceRun: sinceRun ?? 0 };
  if (typeof cursor !== 'string' || sinceRun !== null)
    throw new HttpError(400, 'cursor must be given at most once, and not beside sinceRun.');
  return { cursor };
}
