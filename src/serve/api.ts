import type { FastifyInstance, FastifyRequest } from 'fastify';
import { printableJson } from '../printable.ts';
import { ndjsonLine } from '../render/changes.ts';
import { type Browsable, browsables } from '../store/read/browsable.ts';
import { EndedRuns } from '../store/read/history/changes.ts';
import { feed, type Position, positionText, readPosition } from '../store/read/history/feed.ts';
import { findRecords, withId } from '../store/read/records/find.ts';
import { revisionOf } from '../store/read/runs/freshness.ts';
import { readMirror, type Sqlite } from '../store/read/sqlite.ts';
import { version } from '../version.ts';
import { HttpError } from './http.ts';
import {
  changesQuery,
  filterParameters,
  listQuery,
  type QueryString,
  readChangeFilter,
  readFilter,
  readOrder,
} from './query.ts';

/** A request that Fastify has parsed. */
export type Request = FastifyRequest<{
  readonly Params: Readonly<Record<string, string>>;
  readonly Querystring: QueryString;
}>;

/** A short text that changes with each run and each hour: the report depends on the time, too. */
export function revisionNow(sqlite: Sqlite): string {
  // A page of another version of the program can have another style.
  const hour = new Date().toISOString().slice(0, 13);
  return `${version}-${hour}-${revisionOf(sqlite)}`.replaceAll('.', '_');
}

/** Adds answers that are made from one state of the mirror, and are not sent again while the client has them. */
export function answersFrom(app: FastifyInstance, database: string, type: string) {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return (path: string, querystring: object, make: (sqlite: Sqlite, request: Request) => string) =>
    app.get(path, { schema: { querystring } }, async (request: Request, reply) => {
      // A wrong request is refused in any case, so the answer is made first.
      const { body, revision } = readMirror(database, sqlite => {
        return { body: make(sqlite, request), revision: revisionNow(sqlite) };
      });
      // A cache can keep the answer for this client only, and must ask each time if it is still current.
      reply.type(type).headers({
        etag: `W/"${revision}"`,
        'cache-control': 'private, no-cache',
        vary: 'authorization',
      });
      const known = request.headers['if-none-match']?.split(',').map(opaque) ?? [];
      return known.some(tag => tag === '*' || tag === `"${revision}"`) ? reply.code(304).send() : body;
    });
}

/** Adds the lists and changes for programs. The caller has checked the token. */
export function addApi(app: FastifyInstance, database: string): void {
  const get = answersFrom(app, database, 'application/json; charset=utf-8');
  for (const browsable of browsables)
    get(`/v2/${browsable.resource}`, listQuery(browsable, 'pageNo', 'pageSize'), (sqlite, { query }) =>
      listBody(sqlite, browsable, query),
    );
  get('/v2/changes', changesQuery('cursor', 'sinceRun', 'limit'), changesBody);
}

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

function changesBody(sqlite: Sqlite, { query }: Request): string {
  const { limit, sinceRun = null, cursor = null, order } = query;
  if (cursor !== null && sinceRun !== null) throw new HttpError(400, 'Give cursor or sinceRun, not both.');
  if (sinceRun && !new EndedRuns(sqlite).has(sinceRun))
    throw new HttpError(400, `sinceRun: there is no run ${sinceRun} that has ended.`);
  const filter = filterParameters.some(name => name in query) ? readChangeFilter(query) : undefined;
  const isDescending = order === 'desc';
  const changes = feed(sqlite, filter);
  const at = cursor === null ? changes.since(sinceRun ?? 0) : changes.from(positionIn(cursor, query));
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
  const isFiltered = filterParameters.some(name => name in query);
  const isDescending = query.order === 'desc';
  // docmirror 0.4 took `sort` and `order` for filters.
  const rest = text.startsWith(kind) ? text.slice(kind.length) : isFiltered || isDescending ? '' : text;
  const position = readPosition(rest, isDescending);
  if (position !== null) return position;
  throw new HttpError(400, 'cursor: this is no cursor of this server for these parameters.');
}

const kindOf = (query: QueryString) => JSON.stringify([readChangeFilter(query), query.order === 'desc']);
