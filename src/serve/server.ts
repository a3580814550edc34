import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { codeOf, DocmirrorError } from '../errors.ts';
import { html } from '../render/web/html.ts';
import { brief, page, servedPolicy } from '../render/web/page.ts';
import { type Address, apiAddresses, type FileAddress, type QueryString } from './api.ts';
import { connectionsOf } from './connections.ts';
import {
  HttpError,
  queryError,
  sendError,
  type TokenOptions,
  takesGzip,
  toHttpError,
  tokenCheck,
} from './http.ts';
import { type Families, labelledFigures, metricsText } from './metrics.ts';
import { fileAddresses, pageAddresses, requestUrl } from './pages.ts';
import { freshnessNow, healthOf, lastKnown, type ProbeSource } from './probes.ts';
import type { ReaderData } from './reader.ts';
import { type Readers, readersOf } from './readers.ts';

/** The mirror that is served, and the address. */
export interface ServerOptions extends Pick<ReaderData, 'database' | 'labels' | 'maxAgeMs'> {
  /** The trigger of future runs, if it is neither `manual` nor `schedule`. */
  readonly trigger?: string | null;
  readonly metrics?: Families;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Called with each error that was answered with status 500 or higher. The client does not see its details. */
  readonly onFault?: (error: unknown) => void;
  /** Called for each request after it was answered. Its path has no query, because that can contain what a person searched for. */
  readonly onAnswer?: (answer: object) => void;
}

/** A server that takes requests until it is closed. */
export type RunningServer = Awaited<ReturnType<typeof listen>>;

/**
 * Serves a mirror over HTTP until it is closed: its lists, changes and pages, health and metrics. What reads the mirror runs in threads, so
 * nothing that is asked for holds up the probes.
 */
export async function startServer(options: ServerOptions & TokenOptions): Promise<RunningServer> {
  let refused = 0;
  const onRefused: TokenOptions['onRefused'] = request => {
    refused++;
    options.onRefused?.(request);
  };
  const check = tokenCheck({ ...options, onRefused });
  const { database, labels, trigger = null, maxAgeMs } = options;
  const readers = readersOf({ database, labels, trigger, maxAgeMs });
  const probes: ProbeSource = {
    freshness: lastKnown(() => readers.freshness()),
    figures: lastKnown(() => readers.figures()),
  };
  const metrics: Families = { docmirror_serve_refused_tokens_total: () => [[refused]] };
  const app = monitorApp({ ...options, metrics }, probes);
  app.get('/openapi.json', async () => {
    const { openApiDocument } = await import('./openapi.ts');
    return openApiDocument();
  });
  await app.register(async scope => {
    scope.addHook('onRequest', check(false));
    for (const address of apiAddresses)
      addAddress(scope, readers, address, 'application/json; charset=utf-8');
  });
  await app.register(async scope => {
    scope.addHook('onRequest', check(true));
    addPageHooks(scope);
    for (const address of pageAddresses(database, maxAgeMs)) addAddress(scope, readers, address, htmlType);
    for (const file of fileAddresses) addFile(scope, readers, file, options);
  });
  // From then on there is something to answer probes from.
  await Promise.allSettled([probes.freshness(), probes.figures()]);
  return listen(app, options, readers).catch(async error => {
    await readers.close();
    throw error;
  });
}

/** Serves health checks and metrics, and no records, over HTTP until it is closed. It throws as `startServer` does. */
export async function startMonitorServer(options: ServerOptions): Promise<RunningServer> {
  const { database, labels, trigger } = options;
  const probes: ProbeSource = {
    freshness: () => freshnessNow(database),
    figures: () => labelledFigures(database, labels, trigger),
  };
  return listen(monitorApp(options, probes), options, null);
}

const htmlType = 'text/html; charset=utf-8';
const methods = ['GET', 'HEAD'];

type Request = FastifyRequest<{ Params: Readonly<Record<string, string>>; Querystring: QueryString }>;

/** Adds answers that are made from one state of the mirror, and are not sent again while the client has them. */
function addAddress(app: FastifyInstance, readers: Readers, address: Address, type: string): void {
  const { path, querystring: schema, isLong } = address;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  const handler = async ({ method, url, params, query, headers }: Request, reply: FastifyReply) => {
    const isHead = method === 'HEAD';
    const options = { isHead, isLong: isLong(query), signal: whileWanted(reply) };
    // A wrong request is refused in any case, so the answer is made first.
    const { body, revision } = await readers.page(path, { url, params, query }, options);
    // A cache can keep the answer for this client only, and must ask each time if it is still current.
    const caching = { 'cache-control': 'private, no-cache', vary: 'authorization' };
    reply.type(type).headers({ etag: `W/"${revision}"`, ...caching });
    const known = headers['if-none-match']?.split(',').map(opaque) ?? [];
    if (known.some(tag => tag === '*' || tag === `"${revision}"`)) return reply.code(304).send();
    return reply.send(body ?? undefined);
  };
  app.route({ method: methods, url: path, schema: { querystring: schema }, handler });
}

/** Adds a file for a spreadsheet. Its rows are counted in a header, so that a client knows whether it has all, whatever is between. */
function addFile(app: FastifyInstance, readers: Readers, file: FileAddress, { onFault }: ServerOptions) {
  const { name, querystring, check } = file;
  const handler = async ({ method, query, headers }: Request, reply: FastifyReply) => {
    check(query);
    const isPacked = takesGzip(headers['accept-encoding']);
    reply.type('text/csv; charset=utf-8').headers({
      'content-disposition': `attachment; filename="${name}.csv"`,
      vary: 'authorization, accept-encoding',
      ...(isPacked && { 'content-encoding': 'gzip' }),
    });
    if (method === 'HEAD') return reply.send();
    const signal = whileWanted(reply);
    const { count, bytes } = await readers.file(name, query, signal).catch(error => {
      reply.removeHeader('content-disposition').removeHeader('content-encoding');
      throw error;
    });
    bytes.on('error', error => {
      if (!signal.aborted && error instanceof HttpError && error.cause !== undefined) onFault?.(error.cause);
    });
    reply.header('x-total-count', count);
    // If the rows fail, so does the packed stream, and its reader sees that it has no end.
    const packed = () => pipeline(bytes, createGzip({ level: gzipLevel }), () => undefined);
    return reply.send(isPacked ? packed() : bytes);
  };
  app.route({ method: methods, url: `/${name}.csv`, schema: { querystring }, handler });
}

/** Little is gained by a higher one, for twice the time of the processor. */
const gzipLevel = 3;

/** A signal that is aborted if the client leaves before its answer is sent. */
function whileWanted({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}

function addPageHooks(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    // Set before anything else, so that an answer of 304 has it, too.
    reply.header('content-security-policy', servedPolicy);
    const { pathname, searchParams } = requestUrl(request);
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
    return page(requestUrl(request).pathname.slice(1), { heading, main });
  });
}

const protection = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
};

/** From a request's first byte to its last, in milliseconds. */
const requestTimeoutMs = 15_000;
/** How long a connection can be silent during an exchange, for example because the client stopped reading. */
const idleTimeoutMs = 30_000;

function monitorApp(options: ServerOptions, probes: ProbeSource): FastifyInstance {
  const { maxAgeMs, metrics, onFault, onAnswer } = options;
  const app = fastify({
    requestTimeout: requestTimeoutMs,
    connectionTimeout: idleTimeoutMs,
    ajv: { customOptions: { coerceTypes: true, removeAdditional: false, strictNumbers: false } },
    schemaErrorFormatter: queryError,
    // The router refuses some addresses before any hook runs.
    frameworkErrors: (error, _request, reply) => sendError(reply.headers(protection), toHttpError(error)),
  });
  app.addHook('onRequest', async ({ method }, reply) => {
    reply.headers(protection);
    if (method !== 'GET' && method !== 'HEAD')
      throw new HttpError(405, 'Only GET and HEAD are served here.', { allow: 'GET, HEAD' });
  });
  app.addHook('onResponse', async ({ method, url, ip: client }, { statusCode: status, elapsedTime }) => {
    const [path] = url.split('?');
    onAnswer?.({ method, path, status, durationMs: Math.round(elapsedTime), client });
  });
  app.setErrorHandler((error, _request, reply) => {
    const answer = toHttpError(error);
    const fault = error instanceof HttpError ? error.cause : error;
    if (answer.statusCode >= 500 && fault !== undefined) onFault?.(fault);
    return sendError(reply, answer);
  });
  app.setNotFoundHandler((_request, reply) =>
    sendError(reply, new HttpError(404, 'There is nothing at this address.')),
  );
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/healthz', async (_request, reply) => {
    const answer = healthOf(await probes.freshness(), maxAgeMs);
    reply.code(answer.status === 'ok' ? 200 : 503);
    return answer;
  });
  app.get('/metrics', async (_request, reply) => {
    reply.type('text/plain; version=0.0.4; charset=utf-8');
    return metricsText([await probes.figures()], metrics);
  });
  return app;
}

/** When a server ends: how long an answer can be computed of which nothing was sent yet, in milliseconds. */
const computeMsMax = 3_000;
/** And how long one can be sent, in milliseconds. */
const sendMsMax = 8_000;

async function listen(app: FastifyInstance, { host, port }: ServerOptions, readers: Readers | null) {
  const connections = connectionsOf(app.server);
  const url = await app.listen({ host, port }).catch(async error => {
    await app.close();
    const reason = codeOf(error) === 'EADDRINUSE' ? 'another program uses that port' : error.message;
    throw new DocmirrorError('network', `Can't serve on ${host}, port ${port}: ${reason}.`, { cause: error });
  });
  return {
    url,
    /** Takes no more requests, waits up to 8 seconds for those that are being answered, and ends. */
    async close(): Promise<void> {
      readers?.refuse();
      const timers = [
        setTimeout(() => readers?.endUnsent(), computeMsMax),
        setTimeout(() => connections.endAll(), sendMsMax),
      ];
      connections.endSilent();
      await app.close();
      for (const timer of timers) clearTimeout(timer);
      await readers?.close();
    },
  };
}
