import { keptResources } from '../contract/lists.ts';
import { oneOf } from '../contract/shapes.ts';
import { instantMs } from '../contract/time.ts';
import {
  type Browsable,
  browsableOf,
  type ChangeFilter,
  type ListOrder,
  type noFilter,
  type RecordFilter,
} from '../store/read/browsable.ts';
import type { Sqlite } from '../store/read/sqlite.ts';
import { HttpError } from './http.ts';
import fixed from './openapi.json' with { type: 'json' };

/** What a client asked for. Its parameters fit the schema of the address. */
export interface AskedFor {
  /** The path with its query, as it was sent. */
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryString;
}

/** An address whose answer is made from one state of the mirror, in a thread that reads. */
export interface Address {
  readonly path: string;
  /** The schema of its parameters. */
  readonly querystring: object;
  /** Throws an HttpError for what is not there, or does not fit; it reads a few rows at most. */
  readonly check?: (sqlite: Sqlite, asked: AskedFor) => void;
  readonly make: (sqlite: Sqlite, asked: AskedFor) => string;
  /** True if it can read all rows of a list. */
  readonly isLong: (query: QueryString) => boolean;
}

/** An address with a file for a spreadsheet, `NAME.csv`. */
export interface FileAddress {
  readonly name: string;
  readonly querystring: object;
  /** Throws an HttpError for parameters that do not fit; it reads nothing. */
  readonly check: (query: QueryString) => void;
  /** Its text, and how many rows it has. */
  readonly read: (sqlite: Sqlite, query: QueryString) => { pieces: Iterable<string>; count: number };
}

const parameters: Readonly<Record<string, object>> = {
  ...fixed.parameters,
  resource: oneOf(keptResources, 'The list.'),
};

type TextName = keyof typeof noFilter | 'resource' | 'operation' | 'sort' | 'order' | 'cursor';

/** The parameters of an address, which its schema has checked. Those with a default are always there. */
export type QueryString = Readonly<
  Partial<Record<TextName, string> & Record<'run' | 'sinceRun', number>> &
    Record<'pageNo' | 'pageSize' | 'page' | 'limit' | 'days', number> &
    Record<'timezone', string>
>;

/** The schema of an address with these parameters. */
export function querySchema(names: readonly string[], sorts: readonly string[] = []) {
  const sort = oneOf(sorts, 'By what it is sorted.');
  const properties = Object.fromEntries(names.map(name => [name, parameters[name] ?? sort]));
  // If a filter were ignored, the answer would look filtered.
  return { type: 'object', additionalProperties: false, properties };
}

/** The schema of the parameters of a list or of the connections, and of its pages. */
export function listQuery({ parameters: own, sortNames }: Browsable, ...paging: readonly string[]) {
  return querySchema([...paging, ...own], sortNames);
}

const ofChanges = ['resource', 'operation', 'run'];
/** The parameters of changes, without those of paging: those of exports, and their own. */
export const changeParameters = [...browsableOf('document-exports').parameters, ...ofChanges];

/** Whether changes are chosen by a condition. All of them are read in a fraction of the time that looking for each takes. */
export function isFiltered(query: QueryString): boolean {
  return changeParameters.some(name => name !== 'sort' && name !== 'order' && name in query);
}

/** The schema of the parameters of changes, and of their pages. They are sorted by their runs. */
export function changesQuery(...paging: readonly string[]) {
  return querySchema([...paging, ...changeParameters], ['runId']);
}

/** True if a page of a list can only be found by reading all its rows: words, or an order without an index. */
export function isLongList({ q, sort }: QueryString): boolean {
  return q !== undefined || sort !== undefined;
}

/** The filter of a list or of the connections; it throws a 400 if a time can't be read. */
export function readFilter(query: QueryString): RecordFilter {
  const { source = null, destination = null, kind = null, q = '' } = query;
  return { source, destination, kind, q, from: moment(query, 'from'), to: moment(query, 'to') };
}

/** The filter of changes. */
export function readChangeFilter(query: QueryString): ChangeFilter {
  const { resource = null, operation = null, run = null } = query;
  return { ...readFilter(query), resource, operation, run };
}

/** The order of a list; `usual` if the query string names none. */
export function readOrder({ sort, order }: QueryString, usual: ListOrder): ListOrder {
  const isUsual = (sort ?? usual.sort) === usual.sort;
  const isDescending = order === undefined ? isUsual && usual.isDescending : order === 'desc';
  return { sort: sort ?? usual.sort, isDescending };
}

/** The order in which a list is shown to people: newest first, or by name. */
export function usualOrder({ filters, sorts, idName }: Browsable): ListOrder {
  return { sort: sorts[0]?.name ?? idName, isDescending: filters.time !== undefined };
}

/** A date, or a time to the second, as text that sorts like the times in the mirror. */
function moment(query: QueryString, name: 'from' | 'to'): string | null {
  const text = query[name]?.trim();
  if (text === undefined) return null;
  const ms = instantMs(text);
  if (ms === null)
    throw new HttpError(400, `${name} must be a date or time such as 2026-11-20 or 2026-11-20T18:00:00Z.`);
  return /[T ]/i.test(text) ? new Date(ms).toISOString().slice(0, 19) : text;
}
