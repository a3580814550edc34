import { keptResources } from '../contract/lists.ts';
import { oneOf } from '../contract/shapes.ts';
import { instantMs } from '../contract/time.ts';
import { printableJson } from '../printable.ts';
import { ndjsonLine } from '../render/changes.ts';
import {
  type Browsable,
  browsableOf,
  browsables,
  type ChangeFilter,
  type ListOrder,
  type noFilter,
  type RecordFilter,
} from '../store/read/browsable.ts';
import { EndedRuns } from '../store/read/history/changes.ts';
import { feed, type Position, positionText, readPosition } from '../store/read/history/feed.ts';
import { findRecords, withId } from '../store/read/records/find.ts';
import { revisionOf } from '../store/read/runs/freshness.ts';
import type { Sqlite } from '../store/read/sqlite.ts';
import { version } from '../version.ts';
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

/** A short text that changes with each run and each hour: the report depends on the time, too. */
export function revisionNow(sqlite: Sqlite): string {
  // A page of another version of the program can have another style.
  const hour = new Date().toISOString().slice(0, 13);
  return `${version}-${hour}-${revisionOf(sqlite)}`.replaceAll('.', '_');
}

/** The lists and changes for programs. */
export const apiAddresses: readonly Address[] = [
  ...browsables.map(
    (browsable): Address => ({
      path: `/v2/${browsable.resource}`,
      querystring: listQuery(browsable, 'pageNo', 'pageSize'),
      check: (_sqlite, { query }) => void readFilter(query),
      make: (sqlite, { query }) => listBody(sqlite, browsable, query),
      isLong: isLongList,
    }),
  ),
  {
    path: '/v2/changes',
    querystring: changesQuery('cursor', 'sinceRun', 'limit'),
    check: (sqlite, { query }) => void startOf(sqlite, query),
    make: changesBody,
    isLong: isFiltered,
  },
];

function listBody(sqlite: Sqlite, { resource, idName }: Browsable, query: QueryString): string {
  const { pageNo, pageSize } = query;
  const filter = readFilter(query);
  const order = readOrder(query, { sort: idName, isDescending: false });
  const request = { resource, filter, order, offset: (pageNo - 1) * pageSize, limit: pageSize };
  const { items, count } = findRecords(sqlite, request);
  const pagination = { pageCount: Math.ceil(count / pageSize), pageNo, pageSize, totalRecordCount: count };
  const texts = items.map(withId).join(',');
  return printableJson(`{"items":[${texts}],"pagination":${JSON.stringify(pagination)}}`);
}

function startOf(sqlite: Sqlite, query: QueryString): Position | number {
  const { sinceRun = null, cursor = null } = query;
  readChangeFilter(query);
  if (cursor !== null && sinceRun !== null) throw new HttpError(400, 'Give cursor or sinceRun, not both.');
  if (sinceRun && !new EndedRuns(sqlite).has(sinceRun))
    throw new HttpError(400, `sinceRun: there is no run ${sinceRun} that has ended.`);
  return cursor === null ? (sinceRun ?? 0) : positionIn(cursor, query);
}

function changesBody(sqlite: Sqlite, { query }: AskedFor): string {
  const { limit, order } = query;
  const start = startOf(sqlite, query);
  const filter = isFiltered(query) ? readChangeFilter(query) : undefined;
  const isDescending = order === 'desc';
  const changes = feed(sqlite, filter);
  const at = typeof start === 'number' ? changes.since(start) : changes.from(start);
  const { changes: found, next, isComplete } = isDescending ? at.newestFirst(limit) : at.upTo(limit);
  const items = found.map(change => ndjsonLine(change).trimEnd()).join(',');
  // The cursor of a filter, or of the other order, contains that, and fits no other one.
  const kind = filter === undefined && !isDescending ? '' : kindOf(query);
  const text = Buffer.from(kind + positionText(sqlite, next)).toString('base64url');
  return printableJson(`{"items":[${items}],"cursor":"${text}","isComplete":${isComplete}}`);
}

function positionIn(cursor: string, query: QueryString): Position {
  const text = Buffer.from(cursor, 'base64url').toString();
  const kind = kindOf(query);
  const isDescending = query.order === 'desc';
  // docmirror 0.4 took `sort` and `order` for filters.
  const ofOld = isFiltered(query) || isDescending ? '' : text;
  const rest = text.startsWith(kind) ? text.slice(kind.length) : ofOld;
  const position = readPosition(rest, isDescending);
  if (position !== null) return position;
  throw new HttpError(400, 'cursor: this is no cursor of this server for these parameters.');
}

const kindOf = (query: QueryString) => JSON.stringify([readChangeFilter(query), query.order === 'desc']);
