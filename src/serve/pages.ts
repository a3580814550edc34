import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Browsable,
  browsableOf,
  browsables,
  noFilter,
  parametersOf,
  sortsOf,
} from '../contract/browsable.ts';
import type { CellValue, Column } from '../contract/cells.ts';
import { keptResources, lists } from '../contract/lists.ts';
import { isFresh } from '../freshness.ts';
import { csvPieces } from '../render/csv.ts';
import { shownEndpoint } from '../render/endpoint.ts';
import { flatChanges } from '../render/flat-changes.ts';
import { changesPage, listPage, searchPage } from '../render/web/lists.ts';
import { refusalPage, type ServedRoot, searchTextMax, servedPolicy } from '../render/web/page.ts';
import { reportPeriod, usualLengthMs, Zone } from '../render/web/period.ts';
import { recordPage } from '../render/web/records.ts';
import { reportPage } from '../render/web/report.ts';
import {
  filterChoices,
  findRecords,
  iterateMirror,
  readMirror,
  recordColumns,
  recordRows,
  searchRecords,
} from '../store/read/browse.ts';
import type { Change } from '../store/read/change-cursor.ts';
import { changesThatFit } from '../store/read/change-list.ts';
import { readFigures, revisionOf } from '../store/read/figures.ts';
import {
  exportCounts,
  otherVersions,
  type RecordStory,
  readStory,
  webhooksOf,
} from '../store/read/record-story.ts';
import { readReport } from '../store/read/report-data.ts';
import { version } from '../version.ts';
import { changeKey, readChangeKey } from './api.ts';
import { HttpError, sendTagged, toHttpError } from './http.ts';
import {
  assertKnown,
  changeParameters,
  isNewestFirst,
  type Query,
  readChangeFilter,
  readFilter,
  readOrder,
  textOf,
  textsOf,
  usualOrder,
  wholeNumber,
} from './query.ts';

/** The mirror whose pages are served. */
interface Served {
  readonly database: string;
  /** A list without a completed run for longer than this is too old, in milliseconds; null if no list ever is. */
  readonly maxAgeMs: number | null;
}

type Ask = FastifyRequest<{ Querystring: Query }>;
type Sqlite = Parameters<typeof findRecords>[0];

/** Records, changes or hits on a page. */
const itemsOnPage = 50;
const pageNoMax = 2 ** 31;
/** The last page of a search that can be opened. */
const searchPagesMax = 20;
/** Most versions of a record on its page. */
const versionsMax = 50;
/** Records of each kind on the page of another one. */
const belongingMax = 10;

const htmlType = 'text/html; charset=utf-8';

/** Adds the pages for a browser. The caller has checked the token. */
export function addPages(app: FastifyInstance, served: Served): void {
  const { database } = served;
  // Set before anything else, so that an answer of 304 has it, too.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', servedPolicy);
  });
  addRefusals(app);
  const report = reportKeeper(served);
  const get = (path: string, make: (request: Ask, sqlite: Sqlite) => string) =>
    app.get<{ Querystring: Query }>(path, async (request, reply) => {
      const [body, revision] = readMirror(
        database,
        sqlite => [make(request, sqlite), tagOf(sqlite)] as const,
      );
      return sendTagged(request, reply, { revision, type: htmlType, body });
    });
  app.get<{ Querystring: Query }>('/', async (request, reply) => {
    assertKnown(request.query, []);
    return sendTagged(request, reply, { ...report(), type: htmlType });
  });
  get('/records/:resource/:id', (request, sqlite) => recordBody(sqlite, request, '../../'));
  get('/connections/:id', (request, sqlite) => recordBody(sqlite, request, '../'));
  app.get<{ Params: { id: string } }>('/records/connections/:id', async ({ params }, reply) =>
    reply.redirect(`../../connections/${encodeURIComponent(params.id)}`),
  );
  get('/search', ({ query }, sqlite) => searchBody(sqlite, query));
  for (const browsable of browsables) {
    const { resource } = browsable;
    const names = parametersOf(browsable);
    withoutEmpty(app, `/${resource}`, [...names, 'page']);
    get(`/${resource}`, ({ query }, sqlite) => listBody(sqlite, browsable, query));
    app.get<{ Querystring: Query }>(`/${resource}.csv`, async ({ query }, reply) => {
      const asked = askedList(browsable, query, names);
      return sendFile(reply, resource, recordFile(served, browsable, asked));
    });
  }
  withoutEmpty(app, '/changes', [...changeParameters, 'after', 'before']);
  get('/changes', ({ query }, sqlite) => changesBody(sqlite, query));
  app.get<{ Querystring: Query }>('/changes.csv', async ({ query }, reply) => {
    assertKnown(query, changeParameters);
    const filter = readChangeFilter(query);
    return sendFile(reply, 'changes', changeFile(served, filter, isNewestFirst(query, true)));
  });
}

/** Changes with each run, and with each version of the program, which can have another style. */
function tagOf(sqlite: Sqlite): string {
  return `${version.replaceAll('.', '_')}-${revisionOf(sqlite)}`;
}

/** Refusals are pages, too. Only 401 and server errors are answered as everywhere else. */
function addRefusals(app: FastifyInstance): void {
  const root = app.errorHandler;
  app.setErrorHandler(async (error, request, reply) => {
    const { statusCode, headers, message } = toHttpError(error);
    if (statusCode === 401 || statusCode >= 500) return root(error as never, request, reply);
    const depth = (request.url.split('?')[0] ?? '').split('/').length - 2;
    const heading = statusCode === 404 ? 'No such record' : "This can't be shown";
    const above: ServedRoot = (['./', '../', '../../'] as const)[depth] ?? './';
    return reply
      .code(statusCode)
      .headers(headers)
      .type(htmlType)
      .send(refusalPage(heading, message, above));
  });
}

/** A form sends its empty fields, too. They are left out of the address. */
function withoutEmpty(app: FastifyInstance, path: string, names: readonly string[]): void {
  app.addHook<{ Querystring: Query }>('preHandler', async ({ routeOptions, query }, reply) => {
    if (routeOptions.url !== path || !Object.values(query).includes('')) return;
    assertKnown(query, names);
    const kept = Object.entries(textsOf(query)).filter(([, value]) => value !== '');
    if (Object.values(query).some(Array.isArray)) return;
    const text = kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`;
    reply.redirect(`.${path}${text}`);
  });
}

/**
 * Makes the report of the last 30 days when it is first asked for after a run. It is kept until the next run, the next day, or until
 * a list becomes too old.
 */
function reportKeeper({ database, maxAgeMs }: Served): () => { revision: string; body: string } {
  let kept: { readonly revision: string; readonly body: string } | undefined;
  return () => {
    const nowMs = Date.now();
    const stale =
      maxAgeMs === null
        ? []
        : readFigures(database).lists.map(list => Number(!isFresh(list.lastCompletedAt, nowMs, maxAgeMs)));
    const day = new Date(nowMs).toISOString().slice(0, 10);
    const revision = [readMirror(database, tagOf), day, ...stale].join('-');
    if (kept?.revision === revision) return kept;
    const period = reportPeriod(new Zone('UTC'), {
      untilMs: nowMs,
      since: { lengthMs: usualLengthMs },
      nowMs,
    });
    const options = { nowMs, maxAgeMs, version, root: './', title: null } as const;
    kept = { revision, body: reportPage(readReport(database, period), options) };
    return kept;
  };
}

function recordBody(sqlite: Sqlite, { params, query }: Ask, root: '../' | '../../'): string {
  assertKnown(query, []);
  const { resource = 'connections', id = '' } = params as { resource?: string; id?: string };
  const recordId = /^-?\d+$/.test(id) ? Number(id) : Number.NaN;
  const isKnown = keptResources.some(each => each === resource) && Number.isSafeInteger(recordId);
  const story = isKnown ? readStory(sqlite, resource, recordId, versionsMax) : null;
  if (story === null)
    throw new HttpError(
      404,
      'The mirror has no such record, and its history has none. Its title or reference may find it.',
    );
  return recordPage(root === '../' ? connectionView(sqlite, story) : recordView(sqlite, story));
}

function recordView(sqlite: Sqlite, story: RecordStory) {
  const { resource, recordId } = story;
  const items = resource === 'document-exports' ? otherVersions(sqlite, recordId, belongingMax) : [];
  const title = 'Other versions of this document';
  const belonging = items.length === 0 ? [] : [{ title, resource, items, count: items.length, path: null }];
  return { story, belonging };
}

/** Everything that belongs to a connection. */
function connectionView(sqlite: Sqlite, story: RecordStory) {
  const { recordId } = story;
  const counts = exportCounts(sqlite, recordId);
  const part = (title: string, resource: string, side: 'source' | 'destination', isEmpty = false) => {
    const browsable = browsableOf(resource);
    const filter = { ...noFilter, [side]: String(recordId) };
    const found = { filter, order: usualOrder(browsable), offset: 0, limit: belongingMax };
    // A search that finds nothing reads all exports.
    const { items, count } = isEmpty ? { items: [], count: 0 } : findRecords(sqlite, { resource, ...found });
    return { title, resource, items, count, path: `${resource}?${side}=${recordId}` };
  };
  return {
    story,
    belonging: [
      part('Newest exports from here', 'document-exports', 'source', counts.exported === 0),
      part('Newest exports to here', 'document-exports', 'destination', counts.received === 0),
      part('Collections from here', 'collections', 'source'),
      part('Collections to here', 'collections', 'destination'),
      { title: 'Webhooks', resource: 'webhooks', ...webhooksOf(sqlite, recordId, belongingMax), path: null },
    ],
  };
}

function searchBody(sqlite: Sqlite, query: Query): string {
  assertKnown(query, ['q', 'page']);
  const wanted = (textOf(query, 'q', searchTextMax) ?? '').trim();
  const pageNo = wholeNumber(query, 'page', 1, searchPagesMax) ?? 1;
  const place = { offset: (pageNo - 1) * itemsOnPage, limit: itemsOnPage + 1 };
  const found = searchRecords(sqlite, wanted, place);
  const hasNext = found.length > itemsOnPage && pageNo < searchPagesMax;
  return searchPage({ wanted, pageNo, hits: found.slice(0, itemsOnPage), hasNext });
}

/** The list that a query string asks for. */
function askedList(browsable: Browsable, query: Query, names: readonly string[]) {
  assertKnown(query, names);
  const order = readOrder(query, sortsOf(browsable), usualOrder(browsable));
  return { resource: browsable.resource, filter: readFilter(query), order };
}

function listBody(sqlite: Sqlite, browsable: Browsable, query: Query): string {
  const asked = askedList(browsable, query, [...parametersOf(browsable), 'page']);
  const pageNo = wholeNumber(query, 'page', 1, pageNoMax) ?? 1;
  const offset = (pageNo - 1) * itemsOnPage;
  const { items, count } = findRecords(sqlite, { ...asked, offset, limit: itemsOnPage });
  const isOfConnections = browsable.resource === 'connections';
  return listPage({
    browsable,
    items: isOfConnections
      ? items.map(item => ({ ...item, exportCounts: exportCounts(sqlite, item.id) }))
      : items,
    count,
    order: asked.order,
    parameters: textsOf(query),
    choices: filterChoices(sqlite),
    before: pageNo === 1 ? null : { page: String(pageNo - 1) },
    after: offset + items.length < count ? { page: String(pageNo + 1) } : null,
  });
}

function changesBody(sqlite: Sqlite, query: Query): string {
  assertKnown(query, [...changeParameters, 'after', 'before']);
  const filter = readChangeFilter(query);
  const isDescending = isNewestFirst(query, true);
  const isBackwards = query.before !== undefined;
  const name = isBackwards ? 'before' : 'after';
  const place = textOf(query, name);
  const start = place === null ? null : readChangeKey(place);
  if (place !== null && start === null)
    throw new HttpError(400, `${name} is no place of this list. Begin at its first page.`);
  const found = changesThatFit(sqlite, {
    filter,
    sinceRunId: 0,
    isDescending: isDescending !== isBackwards,
    after: start,
  })
    .filter(change => change !== null)
    .take(itemsOnPage + 1)
    .toArray();
  const kept = found.slice(0, itemsOnPage);
  const changes = isBackwards ? kept.toReversed() : kept;
  const hasMore = found.length > itemsOnPage;
  const [first, last] = [changes[0], changes.at(-1)];
  const [hasBefore, hasAfter] = isBackwards ? [hasMore, true] : [start !== null, hasMore];
  return changesPage({
    changes,
    names: changeParameters,
    parameters: textsOf(query),
    choices: filterChoices(sqlite),
    before: first !== undefined && hasBefore ? { before: changeKey(first) } : null,
    after: last !== undefined && hasAfter ? { after: changeKey(last) } : null,
  });
}

/** All records that match, as a file for a spreadsheet, without the secrets that pages hide. */
function recordFile(
  { database }: Served,
  browsable: Browsable,
  asked: ReturnType<typeof askedList>,
): AsyncGenerator<string> {
  const columns = recordColumns(browsable);
  const rows = iterateMirror(database, sqlite => recordRows(sqlite, asked));
  const isSecret = columns.map(column => column.isSecret);
  return inTurns(columns, isSecret.includes(true) ? rows.map(row => hidden(row, isSecret)) : rows);
}

/** All changes that match, in the same way: each field before and after. */
function changeFile(
  { database }: Served,
  filter: ReturnType<typeof readChangeFilter>,
  isDescending: boolean,
): AsyncGenerator<string> {
  const { columns, rowOf } = flatChanges();
  const secrets = lists.flatMap(({ fields }) =>
    fields.flatMap(field => (field.isSecret ? [field.column] : [])),
  );
  const isOf = (some: readonly string[]) =>
    columns.map(({ name }) => some.some(each => name === `before_${each}` || name === `after_${each}`));
  const [isSecret, isExtra] = [isOf(secrets), isOf(['extra'])];
  const kept = <T>(values: readonly T[]) => values.filter((_, at) => !isExtra[at]);
  const changes = iterateMirror(database, sqlite =>
    changesThatFit(sqlite, { filter, sinceRunId: 0, isDescending }),
  );
  const rows = changes
    .filter(change => change !== null)
    .map((change: Change) => kept(hidden(rowOf(change), isSecret)));
  return inTurns(kept(columns), rows);
}

/** A row of which secret addresses are cut to what pages show of them. */
function hidden(row: readonly CellValue[], isSecret: readonly boolean[]): CellValue[] {
  return row.map((value, at) => (isSecret[at] && value !== null ? shownEndpoint(String(value)) : value));
}

/** The pieces of a file for a spreadsheet. Others are answered between two pieces. */
async function* inTurns(
  columns: readonly Column[],
  rows: Iterable<readonly CellValue[]>,
): AsyncGenerator<string> {
  for (const piece of csvPieces(columns, rows, true)) {
    yield piece;
    await nextTurn();
  }
}

function sendFile(reply: FastifyReply, name: string, text: AsyncGenerator<string>): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(Readable.from(text, { objectMode: false }));
}
