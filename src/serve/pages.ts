import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { lists } from '../contract/lists.ts';
import { attempt } from '../errors.ts';
import { flatChanges } from '../render/changes.ts';
import { csvPieces } from '../render/csv.ts';
import { shownEndpoint } from '../render/endpoint.ts';
import { html } from '../render/web/html.ts';
import { changesParts, listParts, periodForm, searchParts } from '../render/web/lists.ts';
import { brief, type PageParts, page, servedPolicy } from '../render/web/page.ts';
import { reportPeriod, Zone } from '../render/web/period.ts';
import { recordParts } from '../render/web/records.ts';
import { reportParts } from '../render/web/report.ts';
import { runsMax, runsParts } from '../render/web/runs.ts';
import { type Browsable, browsables, noFilter } from '../store/read/browsable.ts';
import type { CellValue } from '../store/read/cells.ts';
import { changesThatFit, placeOf } from '../store/read/history/changes.ts';
import { otherVersions, readStory, webhooksOf } from '../store/read/history/story.ts';
import { connectionUses, findRecords } from '../store/read/records/find.ts';
import { type Choices, filterChoices, searchRecords } from '../store/read/records/search.ts';
import { foundTable, type Table } from '../store/read/records/table.ts';
import { readReport } from '../store/read/report-data.ts';
import { RunReader } from '../store/read/runs/runs.ts';
import { iterateMirror, type Sqlite } from '../store/read/sqlite.ts';
import { answersFrom, type Request, revisionNow } from './api.ts';
import { HttpError, toHttpError } from './http.ts';
import {
  changeParameters,
  changesQuery,
  listQuery,
  type QueryString,
  querySchema,
  readChangeFilter,
  readFilter,
  readOrder,
  usualOrder,
} from './query.ts';

/** A later page of changes would be read for too long, because all before it are. */
const changePagesMax = 500;
const itemsOnPage = 50;
/** The most reports and choices that are kept for the next request. */
const keptMax = 20;
const versionsMax = 50;
const belongingMax = 10;

const htmlType = 'text/html; charset=utf-8';
const dayMs = 86_400_000;

/** Adds the pages for a browser; the caller has checked the token. A list is too old after `maxAgeMs`; null if none ever is. */
export function addPages(app: FastifyInstance, database: string, maxAgeMs: number | null): void {
  app.addHook('onRequest', async (request, reply) => {
    // Set before anything else, so that an answer of 304 has it, too.
    reply.header('content-security-policy', servedPolicy);
    const { pathname, searchParams } = addressOf(request);
    const kept = [...searchParams].filter(([, value]) => value !== '');
    if (kept.length === searchParams.size) return;
    // A form sends its empty fields, too. They are left out of the address.
    return reply.redirect(`./${pathname.split('/').at(-1)}?${new URLSearchParams(kept)}`);
  });
  // Refusals are pages, too. Only 401 and server errors are answered as everywhere else.
  app.setErrorHandler(async (error, request, reply) => {
    const { statusCode, headers, message } = toHttpError(error);
    if (statusCode === 401 || statusCode >= 500) throw error;
    const heading = statusCode === 404 ? 'No such record' : "This can't be shown";
    const main = html`<section><p class="empty">${brief(message)}</p></section>`;
    reply.code(statusCode).headers(headers).type(htmlType);
    return page(addressOf(request).pathname.slice(1), { heading, main });
  });
  const answer = answersFrom(app, database, htmlType);
  const get = (path: string, querystring: object, parts: (sqlite: Sqlite, request: Request) => PageParts) =>
    answer(path, querystring, (sqlite, request) =>
      page(addressOf(request).pathname.slice(1), parts(sqlite, request)),
    );
  const reports = untilChanged((_sqlite, { days, timezone }: Pick<QueryString, 'days' | 'timezone'>) => {
    const zone = attempt(() => new Zone(timezone));
    if (zone === null)
      throw new HttpError(400, `timezone: there is no zone ${timezone}, but for example Europe/Zurich.`);
    const period = reportPeriod(zone, Date.now() - days * dayMs, Date.now(), true);
    const parts = reportParts(readReport(database, period), zone, maxAgeMs, null);
    return { ...parts, main: html`<section>${periodForm(days, timezone)}</section>${parts.main}` };
  });
  get('/', querySchema(['days', 'timezone']), (sqlite, { query }) => reports(sqlite, query));
  get('/runs', querySchema([]), () => {
    using reader = new RunReader(database);
    return runsParts(reader.runs(runsMax));
  });
  for (const path of ['/records/:resource/:id', '/connections/:id']) get(path, querySchema([]), recordBody);
  get('/search', querySchema(['q', 'page']), (sqlite, request) => {
    const { q = '', page: pageNo } = request.query;
    const place = { offset: (pageNo - 1) * itemsOnPage, limit: itemsOnPage + 1 };
    const hits = searchRecords(sqlite, q, place);
    return searchParts(asked(request, {}, hits.length > itemsOnPage), hits.slice(0, itemsOnPage));
  });
  const choices = untilChanged(filterChoices);
  get('/changes', changesQuery('page'), (sqlite, request) =>
    changesBody(sqlite, withoutCounts(browsables.map(each => choices(sqlite, each))), request),
  );
  const file = (name: string, querystring: object, tableOf: (sqlite: Sqlite, query: QueryString) => Table) =>
    app.get(`/${name}.csv`, { schema: { querystring } }, async ({ query }: Request, reply) => {
      const pieces = iterateMirror(database, sqlite => csvOf(tableOf(sqlite, query)));
      reply.header('content-disposition', `attachment; filename="${name}.csv"`);
      return reply.type('text/csv; charset=utf-8').send(Readable.from(pieces, { objectMode: false }));
    });
  file('changes', changesQuery(), (sqlite, query) => {
    const { columns, rowOf } = flatChanges();
    return { columns, rows: changesThatFit(sqlite, askedChanges(query)).map(rowOf) };
  });
  for (const browsable of browsables) {
    const { resource } = browsable;
    get(`/${resource}`, listQuery(browsable, 'page'), (sqlite, request) =>
      listBody(sqlite, browsable, choices(sqlite, browsable), request),
    );
    file(resource, listQuery(browsable), (sqlite, query) => foundTable(sqlite, askedList(browsable, query)));
  }
}

/** What is made of one state of the mirror for a few arguments, and made again after the next run. */
function untilChanged<Argument extends object, Made>(make: (sqlite: Sqlite, argument: Argument) => Made) {
  let [known, made] = ['', new Map<string, Made>()];
  return (sqlite: Sqlite, argument: Argument): Made => {
    const [revision, key] = [revisionNow(sqlite), JSON.stringify(argument)];
    if (revision !== known || made.size === keptMax) [known, made] = [revision, new Map()];
    const found = made.get(key) ?? make(sqlite, argument);
    made.set(key, found);
    return found;
  };
}

/** The address of a request; only its path and its query are the client's. */
function addressOf({ url }: FastifyRequest): URL {
  return new URL(url, 'http://localhost');
}

function recordBody(sqlite: Sqlite, { params }: Request): PageParts {
  const { resource = 'connections', id } = params;
  const recordId = Number(id);
  const isKnown = placeOf(resource) >= 0 && Number.isSafeInteger(recordId);
  const story = isKnown ? readStory(sqlite, resource, recordId, versionsMax) : null;
  if (story === null)
    throw new HttpError(404, 'The mirror never had such a record. Its title or reference may find it.');
  if (resource === 'document-exports') {
    const items = otherVersions(sqlite, recordId, belongingMax);
    const title = 'Other versions of this document';
    const others = { title, resource, items, count: items.length, href: null };
    return recordParts(story, items.length === 0 ? [] : [others]);
  }
  if (resource !== 'connections') return recordParts(story, []);
  const sides = browsables.flatMap(browsable => {
    const { resource, filters } = browsable;
    const place = { order: usualOrder(browsable), offset: 0, limit: belongingMax };
    const there = (['source', 'destination'] as const).filter(side => filters[side] !== undefined);
    return there.map(side => {
      const filter = { ...noFilter, [side]: String(recordId) };
      const title = `${browsable.title} ${side === 'source' ? 'from' : 'to'} here`;
      const href = `/${resource}?${side}=${recordId}`;
      return { title, resource, href, ...findRecords(sqlite, { resource, filter, ...place }) };
    });
  });
  const webhooks = webhooksOf(sqlite, recordId, belongingMax);
  return recordParts(story, [...sides, { title: 'Webhooks', resource: 'webhooks', href: null, ...webhooks }]);
}

function asked(request: Request, choices: Choices, hasNext: boolean) {
  return { query: Object.fromEntries(addressOf(request).searchParams), choices, hasNext };
}

function askedList(browsable: Browsable, query: QueryString) {
  const order = readOrder(query, usualOrder(browsable));
  return { resource: browsable.resource, filter: { ...readFilter(query), isByPart: true }, order };
}

function listBody(sqlite: Sqlite, browsable: Browsable, choices: Choices, request: Request): PageParts {
  const wanted = askedList(browsable, request.query);
  const offset = (request.query.page - 1) * itemsOnPage;
  const found = findRecords(sqlite, { ...wanted, offset, limit: itemsOnPage });
  const hasNext = offset + itemsOnPage < found.count;
  const used = browsable.uses.length > 0 ? connectionUses(sqlite) : new Map();
  return listParts(asked(request, choices, hasNext), browsable, wanted.order, found, used);
}

function askedChanges(query: QueryString) {
  const filter = { ...readChangeFilter(query), isByPart: true };
  return { filter, sinceRunId: 0, isDescending: query.order !== 'asc' };
}

function withoutCounts(all: readonly Choices[]): Choices {
  return Object.fromEntries(
    ['source', 'destination', 'kind'].map(name => {
      const choices = all.flatMap(each => each[name] ?? []);
      return [name, [...new Map(choices.map(each => [each.value, { ...each, count: null }])).values()]];
    }),
  );
}

function changesBody(sqlite: Sqlite, choices: Choices, request: Request): PageParts {
  const { query } = request;
  if (query.page > changePagesMax)
    throw new HttpError(400, `page must be <= ${changePagesMax}. Name a run, or download the CSV.`);
  const later = changesThatFit(sqlite, askedChanges(query)).drop((query.page - 1) * itemsOnPage);
  const found = later.take(itemsOnPage + 1).toArray();
  const hasNext = found.length > itemsOnPage && query.page < changePagesMax;
  return changesParts(asked(request, choices, hasNext), changeParameters, found.slice(0, itemsOnPage));
}

const fieldsOfLists = lists.flatMap(({ fields }) => fields);
const secretColumns = fieldsOfLists.filter(({ isSecret }) => isSecret).map(({ column }) => column);

/** A file for a spreadsheet: of secret addresses it has what pages show, and of further fields nothing. */
function csvOf({ columns, rows }: Table): Iterable<string> {
  const fields = columns.map(({ name }) => name.replace(/^(before|after)_/, ''));
  const kept = <T>(values: readonly T[]) => values.filter((_, at) => fields[at] !== 'extra');
  const shown = (value: CellValue, at: number) =>
    secretColumns.includes(fields[at] ?? '') && value !== null ? shownEndpoint(String(value)) : value;
  const keptRows = Iterator.from(rows).map(row => kept(row.map(shown)));
  return csvPieces(kept(columns), keptRows, true);
}
