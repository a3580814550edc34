import type { FastifyInstance, FastifyReply } from 'fastify';
import { isKnownTo } from './etag.ts';
import { basicOrBearerCheck } from './guards.ts';
import { HttpError } from './http-error.ts';

/** A page for people, complete in itself. */
interface ServedPage {
  readonly html: string;
  /** Lets the page show itself and nothing else. */
  readonly contentSecurityPolicy: string;
}

/** Something that can be read as a page and stays the same until its revision changes. */
export interface ServedReport {
  /** Changes whenever the page does. */
  revision(): string;
  page(): Promise<ServedPage>;
}

/** The report, and what can be reached from it. */
export interface ServedPages {
  readonly report: ServedReport;
  /** Changes whenever a record does. */
  revision(): string;
  /** A record's page; `isFound` is false where the mirror never had such a record, and the page says so. */
  record(resource: string, id: string): Promise<ServedPage & { readonly isFound: boolean }>;
  /** What is found for a text; an empty one asks for the empty form. */
  search(text: string): Promise<ServedPage>;
  /** The longest text that can be searched for, in UTF-16 code units. */
  readonly searchTextMax: number;
}

/** Searches that go on at once; further ones are sent away. */
const searchesMax = 4;

/** The pages, for a browser: that sends the token as the password that it asks for. */
export function addPageRoutes(app: FastifyInstance, pages: ServedPages, token: string): void {
  const checkToken = basicOrBearerCheck(token);
  app.addHook('onRequest', async request => checkToken(request));
  app.get('/', async (request, reply) => {
    const { report } = pages;
    if (isKnownTo(request.headers['if-none-match'], reply, report.revision())) return reply.send();
    return show(reply, await report.page());
  });
  app.get<{ Params: { resource: string; id: string } }>('/records/:resource/:id', async (request, reply) => {
    const { resource, id } = request.params;
    const page = await pages.record(resource, id);
    // All pages have one revision: a client may know it from another one, though there is no such record.
    if (!page.isFound) reply.code(404);
    else if (isKnownTo(request.headers['if-none-match'], reply, pages.revision())) return reply.send();
    return show(reply, page);
  });
  addSearchRoute(app, pages);
}

function addSearchRoute(app: FastifyInstance, pages: ServedPages): void {
  let searches = 0;
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/search', async (request, reply) => {
    const text = searchText(request.query.q ?? '', pages.searchTextMax);
    if (searches >= searchesMax) {
      throw new HttpError(429, 'Too many searches at once. Try again in a moment.', { 'retry-after': '1' });
    }
    searches++;
    try {
      return show(reply, await pages.search(text));
    } finally {
      searches--;
    }
  });
}

function searchText(value: unknown, max: number): string {
  if (typeof value === 'string' && value.length <= max) return value.trim();
  throw new HttpError(400, `q must be a text of at most ${max} characters, given at most once.`);
}

function show(reply: FastifyReply, { html, contentSecurityPolicy }: ServedPage): string {
  reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', `${contentSecurityPolicy}; frame-ancestors 'none'`);
  return html;
}
