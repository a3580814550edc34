import type { Browsable, ChangeFilter, ListOrder, RecordFilter } from '../contract/browsable.ts';
import { keptResources } from '../contract/lists.ts';
import { instantMs } from '../contract/time.ts';
import { HttpError } from './http.ts';

/** A parsed query string. A parameter that is given twice is an array. */
export type Query = Readonly<Record<string, unknown>>;

/** The longest value of a filter, in UTF-16 code units. */
export const filterTextMax = 200;

/** The parameters of changes, without those of paging. */
export const changeParameters = [
  'source',
  'destination',
  'kind',
  'from',
  'to',
  'q',
  'sort',
  'order',
  'resource',
  'operation',
  'run',
];

/** The kinds of changes. */
export const operations = ['insert', 'update', 'removal'];
/** Changes are sorted by their runs. */
export const changeSort = 'runId';

/**
 * Refuses parameters that an address does not support. If a filter were ignored, the answer would look filtered.
 *
 * @throws HttpError with status 400 that names the first of them.
 */
export function assertKnown(query: Query, known: readonly string[]): void {
  const unknown = Object.keys(query).find(name => !known.includes(name));
  if (unknown === undefined) return;
  const there = known.length === 0 ? 'it takes none' : `only ${known.join(', ')}`;
  throw new HttpError(400, `There is no parameter ${unknown.slice(0, filterTextMax)} here, ${there}.`);
}

/** A whole number from a query string; null if it is missing. All functions here throw an HttpError that names the parameter. */
export function wholeNumber(query: Query, name: string, min: number, max: number): number | null {
  const text = query[name];
  if (text === undefined) return null;
  const value = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new HttpError(400, `${name} must be a whole number from ${min} to ${max}, given at most once.`);
}

/** A text; null if it is missing. */
export function textOf(query: Query, name: string, max = filterTextMax): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value === 'string' && value.length <= max) return value;
  throw new HttpError(400, `${name} must be a text of at most ${max} characters, given at most once.`);
}

/** The filter of a list or of the connections. */
export function readFilter(query: Query): RecordFilter {
  return {
    source: connection(query, 'source'),
    destination: connection(query, 'destination'),
    kind: textOf(query, 'kind'),
    from: moment(query, 'from'),
    to: moment(query, 'to'),
    q: (textOf(query, 'q') ?? '').trim(),
  };
}

/** The filter of changes. */
export function readChangeFilter(query: Query): ChangeFilter {
  return {
    ...readFilter(query),
    resource: oneOf(query, 'resource', keptResources),
    operation: oneOf(query, 'operation', operations),
    run: wholeNumber(query, 'run', 1, Number.MAX_SAFE_INTEGER),
  };
}

/**
 * The order of a list.
 *
 * @param usual the order if the query string names none.
 */
export function readOrder(query: Query, sorts: readonly string[], usual: ListOrder): ListOrder {
  const sort = oneOf(query, 'sort', sorts);
  const order = oneOf(query, 'order', ['asc', 'desc']);
  const isDescending = sort === null || sort === usual.sort ? usual.isDescending : false;
  return { sort: sort ?? usual.sort, isDescending: order === null ? isDescending : order === 'desc' };
}

/** True if changes are wanted with the newest first. */
export function isNewestFirst(query: Query, usually: boolean): boolean {
  return readOrder(query, [changeSort], { sort: changeSort, isDescending: usually }).isDescending;
}

/** The order in which a list is shown to people: newest first, or by name. */
export function usualOrder({ resource, filters, idName }: Browsable): ListOrder {
  if (filters.time !== undefined) return { sort: filters.time.name, isDescending: true };
  return resource === 'webhooks'
    ? { sort: idName, isDescending: true }
    : { sort: 'name', isDescending: false };
}

/** The parameters with one text each, as a form or a link gave them. */
export function textsOf(query: Query): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

function connection(query: Query, name: string): string | null {
  const text = textOf(query, name)?.trim() ?? null;
  const isNumber = text !== null && /^-?\d+$/.test(text);
  if (text === '' || (isNumber && !Number.isSafeInteger(Number(text))))
    throw new HttpError(400, `${name} must be the id or the name of a connection.`);
  return text;
}

/** A date, or a time to the second, as text that sorts like the times in the mirror. */
function moment(query: Query, name: string): string | null {
  const text = textOf(query, name)?.trim() ?? null;
  if (text === null) return null;
  const ms = instantMs(text);
  if (ms === null)
    throw new HttpError(
      400,
      `${name} must be a date or time such as 2026-11-20 or 2026-11-20T18:00:00Z, given at most once.`,
    );
  return /[T ]/i.test(text) ? new Date(ms).toISOString().slice(0, 19) : text;
}

function oneOf(query: Query, name: string, known: readonly string[]): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value === 'string' && known.includes(value)) return value;
  throw new HttpError(400, `${name} must be one of ${known.join(', ')}, given at most once.`);
}
