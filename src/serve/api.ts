import type { FastifyInstance } from 'fastify';
import { type Browsable, browsables, parametersOf, sortsOf } from '../contract/browsable.ts';
import { lists } from '../contract/lists.ts';
import { printable } from '../printable.ts';
import { ndjsonLine } from '../render/change-feed.ts';
import { type FoundRecord, findRecords, readMirror } from '../store/read/browse.ts';
import { type ChangeKey, cursorText, placeOf, readCursor } from '../store/read/change-cursor.ts';
import { changesThatFit, readChangePage, runsOf } from '../store/read/change-list.ts';
import { revisionOf } from '../store/read/figures.ts';
import { HttpError, sendTagged } from './http.ts';
import {
  assertKnown,
  changeParameters,
  isNewestFirst,
  type Query,
  readChangeFilter,
  readFilter,
  readOrder,
  wholeNumber,
} from './query.ts';

type Sqlite = Parameters<typeof findRecords>[0];

/** The paging of lists: the defaults, and the largest values that a client can ask for. */
export const paging = { pageNoMax: 2 ** 31, pageSizeDefault: 50, pageSizeMax: 1_000 } as const;

/** How many changes are served by default, and at most. */
export const changesLimit = { default: 100, max: 1_000 } as const;

/** Where a list, or the connections, are served to programs. */
export function apiPath({ resource }: Browsable): string {
  return lists.find(each => each.resource === resource)?.path ?? '/v2/connections';
}

/** Adds the lists and changes for programs. The caller has checked the token. */
export function addApi(app: FastifyInstance, database: string): void {
  const type = 'application/json; charset=utf-8';
  const serve = (path: string, bodyOf: (sqlite: Sqlite, query: Query) => string) =>
    app.get<{ Querystring: Query }>(path, async (request, reply) => {
      const answer = readMirror(database, sqlite => {
        return { body: bodyOf(sqlite, request.query), revision: revisionOf(sqlite), type };
      });
      return sendTagged(request, reply, answer);
    });
  for (const browsable of browsables)
    serve(apiPath(browsable), (sqlite, query) => listBody(sqlite, browsable, query));
  serve('/v2/changes', changesBody);
}

/** The JSON text of one page of a list, in the service's own shape. */
function listBody(sqlite: Sqlite, browsable: Browsable, query: Query): string {
  assertKnown(query, ['pageNo', 'pageSize', ...parametersOf(browsable)]);
  const pageNo = wholeNumber(query, 'pageNo', 1, paging.pageNoMax) ?? 1;
  const pageSize = wholeNumber(query, 'pageSize', 1, paging.pageSizeMax) ?? paging.pageSizeDefault;
  const { resource, idName } = browsable;
  const filter = readFilter(query);
  const order = readOrder(query, sortsOf(browsable), { sort: idName, isDescending: false });
  const request = { resource, filter, order, offset: (pageNo - 1) * pageSize, limit: pageSize };
  const { items, count } = findRecords(sqlite, request);
  const pagination = { pageCount: Math.ceil(count / pageSize), pageNo, pageSize, totalRecordCount: count };
  return `{"items":[${items.map(withId).join(',')}],"pagination":${JSON.stringify(pagination)}}`;
}

/** A record in the service's shape, with the id of its row under `_id` if it has no id of its own. */
function withId({ id, ownId, record }: FoundRecord): string {
  const text = record ?? '{}';
  // If the service sends a field of that name, it stays.
  if (ownId !== null || (text.includes('"_id"') && '_id' in JSON.parse(text))) return text;
  return `{"_id":${id}${text === '{}' ? '' : ','}${text.slice(1)}`;
}

/** The JSON text of the changes that a query string asks for. */
function changesBody(sqlite: Sqlite, query: Query): string {
  assertKnown(query, ['cursor', 'sinceRun', 'limit', ...changeParameters]);
  const limit = wholeNumber(query, 'limit', 1, changesLimit.max) ?? changesLimit.default;
  const sinceRun = wholeNumber(query, 'sinceRun', 0, Number.MAX_SAFE_INTEGER);
  const { cursor = null } = query;
  if ((cursor !== null && typeof cursor !== 'string') || (cursor !== null && sinceRun !== null))
    throw new HttpError(400, 'cursor must be given at most once, and not beside sinceRun.');
  const isFiltered = changeParameters.some(name => query[name] !== undefined);
  const read = isFiltered ? filteredChanges(query) : allChanges;
  const page = read(sqlite, cursor, sinceRun ?? 0, limit);
  return `{"items":[${page.items.join(',')}],"cursor":${JSON.stringify(page.cursor)},"isComplete":${page.isComplete}}`;
}

interface ChangesPage {
  /** Each as JSON text. */
  readonly items: readonly string[];
  readonly cursor: string;
  /** True if nothing is left until the next run ends. */
  readonly isComplete: boolean;
}

function noCursor(cursor: string): HttpError {
  const shown = printable(JSON.stringify(cursor.slice(0, 40)));
  return new HttpError(400, `cursor: ${shown} is not a cursor of this server for these parameters.`);
}

function allChanges(sqlite: Sqlite, cursor: string | null, sinceRun: number, limit: number): ChangesPage {
  const from =
    cursor === null
      ? { runId: sinceRun, after: null }
      : readCursor(Buffer.from(cursor, 'base64url').toString());
  if (from === null) throw noCursor(cursor ?? '');
  if (cursor === null && sinceRun !== 0 && !runsOf(sqlite).has(sinceRun))
    throw new HttpError(400, `sinceRun: there is no run ${sinceRun} that has ended.`);
  const page = readChangePage(sqlite, from, limit);
  if ('why' in page)
    throw new HttpError(
      410,
      `The cursor ${page.why}. The newest run that both share is ${page.sharedRunId}: go on with sinceRun=${page.sharedRunId}.`,
    );
  return {
    items: page.changes.map(change => ndjsonLine(change).trimEnd()),
    cursor: Buffer.from(cursorText(page.next)).toString('base64url'),
    isComplete: page.isComplete,
  };
}

/** Changes that match a filter. The cursor contains the filter, so that it can't be used with another one. */
function filteredChanges(query: Query) {
  const filter = readChangeFilter(query);
  const isDescending = isNewestFirst(query, false);
  const kind = JSON.stringify([filter, isDescending]);
  return (sqlite: Sqlite, cursor: string | null, sinceRun: number, limit: number): ChangesPage => {
    const place = Buffer.from(cursor ?? '', 'base64url').toString();
    const [start = '', key = ''] = place.startsWith(kind) ? place.slice(kind.length).split(' ') : [];
    const after = key === '' ? null : readChangeKey(key);
    if (cursor !== null && (!/^\d+$/.test(start) || (key !== '' && after === null))) throw noCursor(cursor);
    const sinceRunId = cursor === null ? sinceRun : Number(start);
    const request = { filter, isDescending, sinceRunId, after };
    const found = changesThatFit(sqlite, request)
      .filter(change => change !== null)
      .take(limit + 1)
      .toArray();
    const changes = found.slice(0, limit);
    const last = changes.at(-1) ?? after;
    const next = `${kind}${sinceRunId} ${last === null ? '' : changeKey(last)}`;
    return {
      items: changes.map(change => ndjsonLine(change).trimEnd()),
      cursor: Buffer.from(next).toString('base64url'),
      isComplete: found.length <= limit,
    };
  };
}

/** A change as the text of an address: `14.collections.7.update`. */
export function changeKey({ runId, resource, recordId, operation }: ChangeKey): string {
  return `${runId}.${resource}.${recordId}.${operation}`;
}

/** Reads what `changeKey` wrote; null if it is something else. */
export function readChangeKey(text: string): ChangeKey | null {
  const [, run, resource = '', record, operation] =
    /^(\d{1,15})\.([\w-]+)\.(-?\d{1,16})\.(insert|update|removal)$/.exec(text) ?? [];
  if (run === undefined || placeOf(resource) < 0) return null;
  return {
    runId: Number(run),
    resource,
    recordId: Number(record),
    operation: operation as ChangeKey['operation'],
  };
}
