import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ndjsonLine } from '../render/changes.ts';
import { type Browsable, browsables } from '../store/read/browsable.ts';
import { type FoundRecord, findRecords, readMirror } from '../store/read/browse.ts';
import { type ChangeCursor, cursorAt, cursorText, lossOf, readCursor } from '../store/read/change-cursor.ts';
import { changesThatFit, EndedRuns } from '../store/read/change-list.ts';
import { revisionOf } from '../store/read/run-reader.ts';
import { version } from '../version.ts';
import { HttpError } from './http.ts';
import {
  changeParameters,
  changesQuery,
  listQuery,
  type Query,
  readChangeFilter,
  readFilter,
  readOrder,
} from './query.ts';

/** An open mirror. */
export type Sqlite = Parameters<typeof findRecords>[0];

/** A request that Fastify has parsed. */
export type Request = FastifyRequest<{
  readonly Params: Readonly<Record<string, string>>;
  readonly Querystring: Query;
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

/** The JSON text of one page of a list, in the service's own shape. */
function listBody(sqlite: Sqlite, { resource, idName }: Browsable, query: Query): string {
  const { pageNo, pageSize } = query;
  const filter = readFilter(query);
  const order = readOrder(query, { sort: idName, isDescending: false });
  const request = { resource, filter, order, offset: (pageNo - 1) * pageSize, limit: pageSize };
  const { items, count } = findRecords(sqlite, request);
  const pagination = { pageCount: Math.ceil(count / pageSize), pageNo, pageSize, totalRecordCount: count };
  return `{"items":[${items.map(withId).join(',')}],"pagination":${JSON.stringify(pagination)}}`;
}

/** A record in the service's shape, with the id of its row under `_id` if it has no id of its own. */
function withId({ id, ownId, record }: FoundRecord): string {
  const text = String(record);
  // If the service sends a field of that name, it stays.
  if (ownId !== null || (text.includes('"_id"') && '_id' in JSON.parse(text))) return text;
  return `{"_id":${id},${text.slice(1)}`;
}

/** The changes that a query string asks for. The cursor of a filter contains the filter, and fits no other one. */
function changesBody(sqlite: Sqlite, { query }: Request): string {
  const { limit, sinceRun = null, cursor = null, order } = query;
  if (cursor !== null && sinceRun !== null) throw new HttpError(400, 'Give cursor or sinceRun, not both.');
  const runs = new EndedRuns(sqlite);
  if (sinceRun && !runs.has(sinceRun))
    throw new HttpError(400, `sinceRun: there is no run ${sinceRun} that has ended.`);
  const isFiltered = changeParameters.some(name => name in query);
  const filter = isFiltered ? readChangeFilter(query) : undefined;
  const isDescending = order === 'desc';
  const kind = isFiltered ? JSON.stringify([filter, isDescending]) : '';
  const from = cursor === null ? null : cursorIn(cursor, kind);
  const loss = from === null || isFiltered ? null : lossOf(sqlite, from);
  if (loss !== null)
    throw new HttpError(
      410,
      `The cursor ${loss.why}. The newest run that both share is ${loss.sharedRunId}: go on with sinceRun=${loss.sharedRunId}.`,
    );
  const { runId: sinceRunId, after } = from ?? { runId: sinceRun ?? 0, after: null };
  const found = changesThatFit(sqlite, { filter, sinceRunId, isDescending, after })
    .take(limit + 1)
    .toArray();
  const changes = found.slice(0, limit);
  const isComplete = found.length <= limit;
  const last = changes.at(-1) ?? after;
  const delivered = isDescending ? undefined : changes.findLast(({ runId }) => runId !== last?.runId)?.runId;
  const next =
    isComplete && !isDescending
      ? cursorAt(sqlite, Math.max(runs.newest() ?? 0, sinceRunId))
      : cursorAt(sqlite, delivered ?? sinceRunId, last);
  const items = changes.map(change => ndjsonLine(change).trimEnd()).join(',');
  const text = Buffer.from(kind + cursorText(next)).toString('base64url');
  return `{"items":[${items}],"cursor":"${text}","isComplete":${isComplete}}`;
}

function cursorIn(text: string, kind: string): ChangeCursor {
  const decoded = Buffer.from(text, 'base64url').toString();
  const cursor = decoded.startsWith(kind) ? readCursor(decoded.slice(kind.length)) : null;
  if (cursor !== null) return cursor;
  throw new HttpError(400, 'cursor: this is no cursor of this server for these parameters.');
}
