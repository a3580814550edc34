import { printableJson } from '../printable.ts';
import { ndjsonLine } from '../render/changes.ts';
import { type Browsable, browsables } from '../store/read/browsable.ts';
import { EndedRuns } from '../store/read/history/changes.ts';
import { feed, type Position, positionText, readPosition } from '../store/read/history/feed.ts';
import { findRecords, withId } from '../store/read/records/find.ts';
import { revisionOf } from '../store/read/runs/freshness.ts';
import type { Sqlite } from '../store/read/sqlite.ts';
import { version } from '../version.ts';
import { HttpError } from './http.ts';
import {
  type Address,
  type AskedFor,
  changesQuery,
  isFiltered,
  isLongList,
  listQuery,
  type QueryString,
  readChangeFilter,
  readFilter,
  readOrder,
} from './query.ts';

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
  const rest = text.startsWith(kind)
    ? text.slice(kind.length)
    : isFiltered(query) || isDescending
      ? ''
      : text;
  const position = readPosition(rest, isDescending);
  if (position !== null) return position;
  throw new HttpError(400, 'cursor: this is no cursor of this server for these parameters.');
}

const kindOf = (query: QueryString) => JSON.stringify([readChangeFilter(query), query.order === 'desc']);
