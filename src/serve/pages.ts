import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Browsable,
  browsables,
  type ChangeFilter,
  type ListOrder,
  parametersOf,
  type RecordFilter,
  sortsOf,
} from '../contract/browsable.ts';
import { isNewestFirst } from './change-page.ts';
import { isKnownTo } from './etag.ts';
import type { RequestCheck } from './guards.ts';
import { HttpError, toHttpError } from './http-error.ts';
import {
  assertKnown,
  changeParameters,
  type Query,
  readChangeFilter,
  readFilter,
  readOrder,
  usualOrder,
  wholeNumber,
} from './list-query.ts';

/** A page for people, complete in itself. */
interface ServedPage {
  readonly html: string;
  /** A policy that allows the page its own content and nothing else. */
  readonly contentSecurityPolicy: string;
}

/** Something that can be read as a page and stays the same until its revision changes. */
export interface ServedReport {
  /** Changes whenever the page does. */
  revision(): string;
  page(): Promise<ServedPage>;
}

/** The start of a page. `after` and `before` are texts from the links of other pages. */
interface PagePlace {
  readonly after: string | null;
  readonly before: string | null;
  /** The parameters as they are in the address. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The page of a list that a client asks for. */
export interface AskedList extends PagePlace {
  readonly browsable: Browsable;
  readonly filter: RecordFilter;
  readonly order: ListOrder;
}

/** The changes that a client asks for. */
export interface AskedChanges extends PagePlace {
  readonly filter: ChangeFilter;
  readonly isDescending: boolean;
}

type MaybeFound = ServedPage & { readonly isFound: boolean };

/** The report and the pages that it links to. */
export interface ServedPages {
  readonly report: ServedReport;
  /** Changes whenever a record does. */
  revision(): string;
  /** A record's page. `isFound` is false if the mirror never had that record, and the page says so. */
  record(resource: string, id: string): Promise<MaybeFound>;
  /** A connection's page, in the same way. */
  connection(id: string): Promise<MaybeFound>;
  /** @throws HttpError with status 400 if `after` or `before` is not a place in the list. */
  list(asked: AskedList): Promise<ServedPage>;
  changes(asked: AskedChanges): Promise<ServedPage>;
  /** All records that match, as a file of comma-separated values. */
  listFile(asked: AskedList): Promise<AsyncIterable<string>>;
  changesFile(asked: AskedChanges): Promise<AsyncIterable<string>>;
  /** The page with the results for a text. An empty text gives the empty form. */
  search(text: string, pageNo: number): Promise<ServedPage>;
  /** The page that is shown instead of one that can't be served. `depth` is the number of folders in its path. */
  refusal(message: string, depth: number): Promise<ServedPage>;
  /** The longest text that can be searched for, in UTF-16 code units. */
  readonly searchTextMax: number;
  /** The last page of a search. */
  readonly searchPagesMax: number;
}

type Ask = FastifyRequest<{ Querystring: Query }>;

/** Adds the pages for a browser. The browser asks for a password and sends the token as that. */
export function addPageRoutes(app: FastifyInstance, pages: ServedPages, checkToken: RequestCheck): void {
  app.addHook('onRequest', checkToken);
  addRefusals(app, pages);
  app.get<{ Querystring: Query }>('/', async (request, reply) => {
    assertKnown(request.query, []);
    const { report } = pages;
    if (isKnownTo(request.headers['if-none-match'], reply, report.revision())) return reply.send();
    return show(reply, await report.page());
  });
  app.get<{ Params: { resource: string; id: string }; Querystring: Query }>(
    '/records/:resource/:id',
    async (request, reply) => {
      const { resource, id } = request.params;
      assertKnown(request.query, []);
      if (resource === 'connections') return reply.redirect(`../../connections/${encodeURIComponent(id)}`);
      return showIfFound(request, reply, pages, await pages.record(resource, id));
    },
  );
  app.get<{ Params: { id: string }; Querystring: Query }>('/connections/:id', async (request, reply) => {
    assertKnown(request.query, []);
    return showIfFound(request, reply, pages, await pages.connection(request.params.id));
  });
  for (const browsable of browsables) addListRoutes(app, pages, browsable);
  addChangeRoutes(app, pages);
  app.get<{ Querystring: Query }>('/search', async (request, reply) => {
    assertKnown(request.query, ['q', 'page']);
    const text = searchText(request.query.q ?? '', pages.searchTextMax);
    const pageNo = wholeNumber(request.query, 'page', 1, pages.searchPagesMax) ?? 1;
    return show(reply, await pages.search(text, pageNo));
  });
}

/** Refusals are pages, too. Only 401 and server errors are answered as everywhere else. */
function addRefusals(app: FastifyInstance, pages: ServedPages): void {
  const root = app.errorHandler;
  app.setErrorHandler(async (error, request, reply) => {
    const { statusCode, headers, message } = toHttpError(error);
    if (statusCode === 401 || statusCode >= 500) return root(error as never, request, reply);
    const depth = (request.url.split('?')[0] ?? '').split('/').length - 2;
    reply.code(statusCode).headers(headers);
    return reply.send(show(reply, await pages.refusal(message, depth)));
  });
}

function addListRoutes(app: FastifyInstance, pages: ServedPages, browsable: Browsable): void {
  const asked = ({ query }: Ask, places: readonly string[]): AskedList => ({
    ...placeOf(query, [...parametersOf(browsable), ...places]),
    browsable,
    filter: readFilter(query),
    order: readOrder(query, sortsOf(browsable), usualOrder(browsable)),
  });
  const { resource } = browsable;
  app.get<{ Querystring: Query }>(`/${resource}`, async (request, reply) => {
    const clean = withoutEmpty(request.query, parametersOf(browsable));
    if (clean !== null) return reply.redirect(`./${resource}${clean}`);
    // The revision is taken before the page. The page is made even for a 304, so that wrong parameters are refused.
    const revision = pages.revision();
    const page = await pages.list(asked(request, placeNames));
    if (isKnownTo(request.headers['if-none-match'], reply, revision)) return reply.send();
    return show(reply, page);
  });
  app.get<{ Querystring: Query }>(`/${resource}.csv`, async (request, reply) =>
    sendFile(reply, resource, await pages.listFile(asked(request, []))),
  );
}

function addChangeRoutes(app: FastifyInstance, pages: ServedPages): void {
  const asked = ({ query }: Ask, places: readonly string[]): AskedChanges => ({
    ...placeOf(query, [...changeParameters, ...places]),
    filter: readChangeFilter(query),
    isDescending: isNewestFirst(query, true),
  });
  app.get<{ Querystring: Query }>('/changes', async (request, reply) => {
    const clean = withoutEmpty(request.query, changeParameters);
    if (clean !== null) return reply.redirect(`./changes${clean}`);
    // The revision is taken before the page. The page is made even for a 304, so that wrong parameters are refused.
    const revision = pages.revision();
    const page = await pages.changes(asked(request, placeNames));
    if (isKnownTo(request.headers['if-none-match'], reply, revision)) return reply.send();
    return show(reply, page);
  });
  app.get<{ Querystring: Query }>('/changes.csv', async (request, reply) =>
    sendFile(reply, 'changes', await pages.changesFile(asked(request, []))),
  );
}

/** The parameters of paging. A file has no pages, so it accepts none of these. */
const placeNames = ['after', 'before'];

function placeOf(query: Query, names: readonly string[]): PagePlace {
  assertKnown(query, names);
  const [after = null, before = null] = placeNames.map(name => {
    const value = query[name] ?? null;
    if (value === null || typeof value === 'string') return value;
    throw new HttpError(400, `${name} must be given at most once.`);
  });
  if (after !== null && before !== null) throw new HttpError(400, 'after must not be given beside before.');
  return { after, before, parameters: Object.fromEntries(stringsOf(query)) };
}

function stringsOf(query: Query): [string, string][] {
  return Object.entries(query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
}

/** The query without the empty fields that a form sends, or null if there are none. */
function withoutEmpty(query: Query, names: readonly string[]): string | null {
  assertKnown(query, [...names, ...placeNames]);
  const values = Object.values(query);
  if (!values.includes('') || values.some(Array.isArray)) return null;
  const kept = stringsOf(query).filter(([, value]) => value !== '');
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`;
}

function searchText(value: unknown, max: number): string {
  if (typeof value === 'string' && value.length <= max) return value.trim();
  throw new HttpError(400, `q must be a text of at most ${max} characters, given at most once.`);
}

function showIfFound(request: FastifyRequest, reply: FastifyReply, pages: ServedPages, page: MaybeFound) {
  // All pages have the same revision, so the client might know it from another page although this record does not exist.
  if (!page.isFound) reply.code(404);
  else if (isKnownTo(request.headers['if-none-match'], reply, pages.revision())) return reply.send();
  return show(reply, page);
}

function show(reply: FastifyReply, { html, contentSecurityPolicy }: ServedPage): string {
  reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', `${contentSecurityPolicy}; frame-ancestors 'none'`);
  return html;
}

function sendFile(reply: FastifyReply, name: string, text: AsyncIterable<string>): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(Readable.from(text, { objectMode: false }));
}
