import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import {
  type Browsable,
  browsableOf,
  browsables,
  noFilter,
  parametersOf,
  sortsOf,
} from '../contract/browsable.ts';
import type { CellValue, Column } from '../contract/cells.ts';
import { lists } from '../contract/lists.ts';
import { isFresh } from '../freshness.ts';
import { flatChanges } from '../render/changes.ts';
import { csvPieces } from '../render/csv.ts';
import { shownEndpoint } from '../render/endpoint.ts';
import { changesPage, listPage, searchPage } from '../render/web/lists.ts';
import { refusalPage, servedPolicy } from '../render/web/page.ts';
import { reportPeriod, usualLengthMs, Zone } from '../render/web/period.ts';
import { recordPage } from '../render/web/records.ts';
import { reportPage } from '../render/web/report.ts';
import {
  filterChoices,
  findRecords,
  iterateMirror,
  readMirror,
  recordTable,
  searchRecords,
} from '../store/read/browse.ts';
import { type ChangeKey, isKey, placeOf } from '../store/read/change-cursor.ts';
import { changesThatFit } from '../store/read/change-list.ts';
import { readFigures, revisionOf } from '../store/read/figures.ts';
import { exportCounts, otherVersions, readStory, webhooksOf } from '../store/read/record-story.ts';
import { readReport } from '../store/read/report-data.ts';
import { version } from '../version.ts';
import { type Asked, answersFrom, type Sqlite } from './api.ts';
import { HttpError, sendTagged, toHttpError } from './http.ts';
import {
  assertKnown,
  changeParameters,
  isNewestFirst,
  numberOf,
  type Query,
  readChangeFilter,
  readFilter,
  readOrder,
  textOf,
  textsOf,
  usualOrder,
} from './query.ts';

/** The mirror whose pages are served. */
interface Served {
  readonly database: string;
  /** A list without a completed run for longer than this is too old, in milliseconds; null if no list ever is. */
  readonly maxAgeMs: number | null;
}

/** Records, changes or hits on a page. */
const itemsOnPage = 50;
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
  // A form sends its empty fields, too. They are left out of the address.
  app.addHook<Asked>('preHandler', async ({ url, query }, reply) => {
    const kept = Object.entries(textsOf(query)).filter(([, value]) => value !== '');
    if (!Object.values(query).includes('') || Object.values(query).some(Array.isArray)) return;
    const [, name] = /([^/?]*)(\?|$)/.exec(url) ?? [];
    reply.redirect(`./${name}${kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`}`);
  });
  addRefusals(app);
  const get = answersFrom(app, database, htmlType);
  const file = (name: string, names: readonly string[], read: (query: Query) => (sqlite: Sqlite) => Table) =>
    app.get<Asked>(`/${name}.csv`, async ({ query }, reply) => {
      assertKnown(query, names);
      const tableOf = read(query);
      const pieces = inTurns(iterateMirror(database, sqlite => csvOf(tableOf(sqlite))));
      reply.header('content-disposition', `attachment; filename="${name}.csv"`);
      return reply.type('text/csv; charset=utf-8').send(Readable.from(pieces, { objectMode: false }));
    });
  const report = reportKeeper(served);
  app.get<Asked>('/', async (request, reply) => {
    assertKnown(request.query, []);
    return sendTagged(request, reply, { ...report(), type: htmlType });
  });
  get('/records/:resource/:id', [], (sqlite, _query, { resource = '', id = '' }) =>
    recordPage(recordView(sqlite, resource, id)),
  );
  get('/connections/:id', [], (sqlite, _query, { id = '' }) =>
    recordPage(recordView(sqlite, 'connections', id)),
  );
  app.get<Asked>('/records/connections/:id', async ({ params }, reply) =>
    reply.redirect(`../../connections/${encodeURIComponent(params.id ?? '')}`),
  );
  get('/search', ['q', 'page'], searchBody);
  get('/changes', [...changeParameters, 'after', 'before'], changesBody);
  file('changes', changeParameters, query => {
    const [filter, isDescending] = [readChangeFilter(query), isNewestFirst(query, true)];
    const { columns, rowOf } = flatChanges();
    return sqlite => {
      return { columns, rows: changesThatFit(sqlite, { filter, sinceRunId: 0, isDescending }).map(rowOf) };
    };
  });
  for (const browsable of browsables) {
    const names = parametersOf(browsable);
    get(`/${browsable.resource}`, [...names, 'page'], (sqlite, query) => listBody(sqlite, browsable, query));
    file(browsable.resource, names, query => {
      const asked = askedList(browsable, query);
      return sqlite => recordTable(sqlite, asked);
    });
  }
}

/** Refusals are pages, too. Only 401 and server errors are answered as everywhere else. */
function addRefusals(app: FastifyInstance): void {
  const root = app.errorHandler;
  app.setErrorHandler(async (error, request, reply) => {
    const { statusCode, headers, message } = toHttpError(error);
    if (statusCode === 401 || statusCode >= 500) return root(error as never, request, reply);
    const depth = (request.url.split('?')[0] ?? '').split('/').length - 2;
    const heading = statusCode === 404 ? 'No such record' : "This can't be shown";
    const above = (['./', '../', '../../'] as const)[depth] ?? './';
    reply.code(statusCode).headers(headers).type(htmlType);
    return reply.send(refusalPage(heading, message, above));
  });
}

/** Makes the report of the last 30 days once for each run, each day, and each list that becomes too old. */
function reportKeeper({ database, maxAgeMs }: Served): () => { revision: string; body: string } {
  let kept = { revision: '', body: '' };
  return () => {
    const nowMs = Date.now();
    const isFreshNow = readFigures(database).lists.map(
      ({ lastCompletedAt }) => maxAgeMs === null || isFresh(lastCompletedAt, nowMs, maxAgeMs),
    );
    const day = new Date(nowMs).toISOString().slice(0, 10);
    const revision = [readMirror(database, revisionOf), day, ...isFreshNow].join('-');
    if (kept.revision === revision) return kept;
    const since = { lengthMs: usualLengthMs };
    const period = reportPeriod(new Zone('UTC'), { untilMs: nowMs, since, nowMs });
    const options = { nowMs, maxAgeMs, version, root: './', title: null } as const;
    kept = { revision, body: reportPage(readReport(database, period), options) };
    return kept;
  };
}

/** A record or connection, and everything that belongs to it. */
function recordView(sqlite: Sqlite, resource: string, id: string) {
  const recordId = /^-?\d+$/.test(id) ? Number(id) : Number.NaN;
  const isKnown = placeOf(resource) >= 0 && Number.isSafeInteger(recordId);
  const story = isKnown ? readStory(sqlite, resource, recordId, versionsMax) : null;
  if (story === null)
    throw new HttpError(
      404,
      'The mirror has no such record, and its history has none. Its title or reference may find it.',
    );
  if (resource === 'document-exports') {
    const items = otherVersions(sqlite, recordId, belongingMax);
    const title = 'Other versions of this document';
    const others = { title, resource, items, count: items.length, path: null };
    return { story, belonging: items.length === 0 ? [] : [others] };
  }
  if (resource !== 'connections') return { story, belonging: [] };
  const part = (title: string, of: string, side: 'source' | 'destination') => {
    const filter = { ...noFilter, [side]: String(recordId) };
    const order = usualOrder(browsableOf(of));
    const found = findRecords(sqlite, { resource: of, filter, order, offset: 0, limit: belongingMax });
    return { title, resource: of, ...found, path: `${of}?${side}=${recordId}` };
  };
  return {
    story,
    belonging: [
      part('Newest exports from here', 'document-exports', 'source'),
      part('Newest exports to here', 'document-exports', 'destination'),
      part('Collections from here', 'collections', 'source'),
      part('Collections to here', 'collections', 'destination'),
      { title: 'Webhooks', resource: 'webhooks', ...webhooksOf(sqlite, recordId, belongingMax), path: null },
    ],
  };
}

function searchBody(sqlite: Sqlite, query: Query): string {
  const wanted = (textOf(query, 'q') ?? '').trim();
  const pageNo = Math.min(numberOf(query, 'page') ?? 1, searchPagesMax);
  const place = { offset: (pageNo - 1) * itemsOnPage, limit: itemsOnPage + 1 };
  const found = searchRecords(sqlite, wanted, place);
  const hasNext = found.length > itemsOnPage && pageNo < searchPagesMax;
  return searchPage({ wanted, pageNo, hits: found.slice(0, itemsOnPage), hasNext });
}

/** The list that a query string asks for. */
function askedList(browsable: Browsable, query: Query) {
  const order = readOrder(query, sortsOf(browsable), usualOrder(browsable));
  return { resource: browsable.resource, filter: readFilter(query), order };
}

function listBody(sqlite: Sqlite, browsable: Browsable, query: Query): string {
  const asked = askedList(browsable, query);
  const pageNo = numberOf(query, 'page') ?? 1;
  const offset = (pageNo - 1) * itemsOnPage;
  const { items, count } = findRecords(sqlite, { ...asked, offset, limit: itemsOnPage });
  const isOfConnections = browsable.resource === 'connections';
  return listPage({
    browsable,
    items: items.map(item =>
      isOfConnections ? { ...item, exportCounts: exportCounts(sqlite, item.id) } : item,
    ),
    count,
    order: asked.order,
    parameters: textsOf(query),
    choices: filterChoices(sqlite),
    before: pageNo === 1 ? null : { page: String(pageNo - 1) },
    after: offset + items.length < count ? { page: String(pageNo + 1) } : null,
  });
}

function changesBody(sqlite: Sqlite, query: Query): string {
  const filter = readChangeFilter(query);
  const isBackwards = query.before !== undefined;
  const start = keyIn(query, isBackwards ? 'before' : 'after');
  const isDescending = isNewestFirst(query, true) !== isBackwards;
  const found = changesThatFit(sqlite, { filter, sinceRunId: 0, isDescending, after: start })
    .take(itemsOnPage + 1)
    .toArray();
  const changes = found.slice(0, itemsOnPage);
  if (isBackwards) changes.reverse();
  const hasMore = found.length > itemsOnPage;
  const [first, last] = [changes[0], changes.at(-1)];
  return changesPage({
    changes,
    names: changeParameters,
    parameters: textsOf(query),
    choices: filterChoices(sqlite),
    before: first && (isBackwards ? hasMore : start !== null) ? { before: keyText(first) } : null,
    after: last && (isBackwards || hasMore) ? { after: keyText(last) } : null,
  });
}

/** A change as the text of an address: `14.collections.7.update`. */
function keyText({ runId, resource, recordId, operation }: ChangeKey): string {
  return `${runId}.${resource}.${recordId}.${operation}`;
}

function keyIn(query: Query, name: string): ChangeKey | null {
  const text = textOf(query, name);
  if (text === null) return null;
  const [run, resource, record, operation] = text.split('.');
  const key = { runId: Number(run), resource, recordId: Number(record), operation };
  if (isKey(key)) return key;
  throw new HttpError(400, `${name} is no place of this list. Begin at its first page.`);
}

interface Table {
  readonly columns: readonly Column[];
  readonly rows: Iterable<readonly CellValue[]>;
}

const secretColumns = lists.flatMap(({ fields }) =>
  fields.flatMap(field => (field.isSecret ? [field.column] : [])),
);

/** A file for a spreadsheet: of secret addresses it has what pages show, and of further fields nothing. */
function* csvOf({ columns, rows }: Table): Generator<string> {
  const fields = columns.map(({ name }) => name.replace(/^(before|after)_/, ''));
  const isSecret = fields.map(name => secretColumns.includes(name));
  const kept = <T>(values: readonly T[]) => values.filter((_, at) => fields[at] !== 'extra');
  const shown = function* () {
    for (const row of rows)
      yield kept(
        row.map((value, at) => (isSecret[at] && value !== null ? shownEndpoint(String(value)) : value)),
      );
  };
  yield* csvPieces(kept(columns), shown(), true);
}

/** Others are answered between two pieces. */
async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece;
    await nextTurn();
  }
}
