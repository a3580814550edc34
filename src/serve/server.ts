import { existsSync } from 'node:fs';
import { type FastifyInstance, fastify } from 'fastify';
import { codeOf, DocmirrorError, OtherShapeError } from '../errors.ts';
import { ageMs, isFresh } from '../store/read/list-state.ts';
import { type Freshness, neverCompleted, readFreshness } from '../store/read/runs/freshness.ts';
import { addApi } from './api.ts';
import { HttpError, queryError, sendError, type TokenOptions, toHttpError, tokenCheck } from './http.ts';
import { type Family, labelledFigures, metricsText } from './metrics.ts';
import type { HealthAnswer } from './openapi.ts';
import { addPages } from './pages.ts';

/** The mirror that is served, and the address. */
export interface ServerOptions {
  readonly database: string;
  /** Of all metrics; if there are none, those of the mirror's newest run. */
  readonly labels: Readonly<Record<string, string>>;
  /** The trigger of future runs, if it is neither `manual` nor `schedule`. */
  readonly trigger?: string | null;
  /** A list without a completed run for longer than this is stale, in milliseconds; null if no list ever is. */
  readonly maxAgeMs: number | null;
  readonly metrics?: readonly Family[];
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Called with each error that was answered with status 500 or higher. The client does not see its details. */
  readonly onFault?: (error: unknown) => void;
  /** Called for each request after it was answered. Its path has no query, because that can contain what a person searched for. */
  readonly onAnswer?: (answer: object) => void;
}

/** A server that takes requests until it is closed. */
export interface RunningServer {
  readonly url: string;
  /** Takes no more requests, waits for those that are being answered, and ends. */
  close(): Promise<void>;
}

/** Serves a mirror over HTTP until it is closed: its lists, changes and pages, health and metrics. */
export async function startServer(options: ServerOptions & TokenOptions): Promise<RunningServer> {
  let refused = 0;
  const onRefused: TokenOptions['onRefused'] = request => {
    refused++;
    options.onRefused?.(request);
  };
  const check = tokenCheck({ ...options, onRefused });
  const help = 'Requests that gave a wrong token, since the server started.';
  const refusedTokens: Family = ['docmirror_serve_refused_tokens_total', help, () => [[refused]]];
  const app = monitorApp({ ...options, metrics: [refusedTokens] });
  app.get('/openapi.json', async () => {
    const { openApiDocument } = await import('./openapi.ts');
    return openApiDocument();
  });
  await app.register(async scope => {
    scope.addHook('onRequest', check(false));
    addApi(scope, options.database);
  });
  await app.register(async scope => {
    scope.addHook('onRequest', check(true));
    addPages(scope, options.database, options.maxAgeMs);
  });
  return listen(app, options);
}

/** Serves health checks and metrics, and no records, over HTTP until it is closed. It throws as `startServer` does. */
export async function startMonitorServer(options: ServerOptions): Promise<RunningServer> {
  return listen(monitorApp(options), options);
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

function monitorApp(options: ServerOptions): FastifyInstance {
  const { database, labels, trigger, metrics, onFault, onAnswer } = options;
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
    if (answer.statusCode >= 500) onFault?.(error);
    return sendError(reply, answer);
  });
  app.setNotFoundHandler((_request, reply) =>
    sendError(reply, new HttpError(404, 'There is nothing at this address.')),
  );
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/healthz', async (_request, reply) => {
    const answer = healthOf(options);
    reply.code(answer.status === 'ok' ? 200 : 503);
    return answer;
  });
  app.get('/metrics', async (_request, reply) => {
    reply.type('text/plain; version=0.0.4; charset=utf-8');
    return metricsText([labelledFigures(database, labels, trigger)], metrics);
  });
  return app;
}

function healthOf({ database, maxAgeMs }: ServerOptions): HealthAnswer {
  const nowMs = Date.now();
  const isThere = existsSync(database);
  let found: readonly Freshness[];
  try {
    found = isThere ? readFreshness(database) : neverCompleted;
  } catch (error) {
    const why = error instanceof OtherShapeError && { message: error.withoutPath };
    return { status: 'unreadable', ...why };
  }
  const lists = found.map(list => {
    const age = ageMs(list.readSince, nowMs);
    return { ...list, ageSeconds: age === null ? null : age / 1000 };
  });
  const isOld = maxAgeMs !== null && lists.some(list => !isFresh(list.readSince, nowMs, maxAgeMs));
  // Without a mirror, also without a limit for the age: it was moved away, or the first run has not made it yet.
  return { status: isOld || !isThere ? 'stale' : 'ok', lists };
}

async function listen(app: FastifyInstance, { host, port }: ServerOptions): Promise<RunningServer> {
  const url = await app.listen({ host, port }).catch(async error => {
    await app.close();
    const reason = codeOf(error) === 'EADDRINUSE' ? 'another program uses that port' : error.message;
    throw new DocmirrorError('network', `Can't serve on ${host}, port ${port}: ${reason}.`, { cause: error });
  });
  return { url, close: () => app.close() };
}
