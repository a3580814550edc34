import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { lists } from '../contract/lists.ts';
import { type ChangeSource, changePage } from './change-page.ts';
import { isKnownTo } from './etag.ts';
import { bearerCheck, checkRequest } from './guards.ts';
import { gzipped } from './gzip.ts';
import { type HealthSource, healthOf } from './health.ts';
import { HttpError, sendError, toHttpError } from './http-error.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { listPage, type Query, turnTo } from './list-page.ts';
import type { Metrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { addPageRoutes, type ServedPages } from './pages.ts';
import type { RecordSource } from './record-source.ts';

/** What holds no record data, and so needs no token. */
export interface MonitorOptions {
  readonly health?: HealthSource;
  readonly metrics?: Metrics;
  /** Told of each error that was answered with 500; the client learns nothing of it. */
  readonly onFault?: (error: unknown) => void;
  readonly limits?: Partial<ServerLimits>;
}

/** What the server serves, besides what it watches, and how much of it. */
export interface AppOptions extends MonitorOptions {
  readonly source: RecordSource;
  /** What clients must send as their bearer token. */
  readonly token: string;
  readonly pages?: ServedPages;
  readonly changes?: ChangeSource;
}

const json = 'application/json; charset=utf-8';

/** Builds the read-only HTTP server over a source of records; it does not listen yet. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { token, pages } = options;
  const app = await buildMonitorApp(options);
  const document = JSON.stringify(openApiDocument(options));
  app.get('/openapi.json', async (_request, reply) => {
    reply.type(json);
    return document;
  });
  await app.register(async scope => addListRoutes(scope, options));
  if (pages !== undefined) await app.register(async scope => addPageRoutes(scope, pages, token));
  return app;
}

/** Builds a server that answers how things stand and nothing else; it does not listen yet. */
export async function buildMonitorApp(options: MonitorOptions): Promise<FastifyInstance> {
  const { health, metrics, onFault, limits } = options;
  const { compressedBytesMin, ...bounds } = { ...defaultLimits, ...limits };
  const app = boundedServer(bounds);
  app.addHook('onRequest', async (request, reply) => {
    protect(reply);
    checkRequest(request);
  });
  app.setErrorHandler((error, _request, reply) => {
    const answer = toHttpError(error);
    if (answer.statusCode >= 500) onFault?.(error);
    return sendError(reply, answer);
  });
  app.setNotFoundHandler((_request, reply) =>
    sendError(reply, new HttpError(404, 'There is nothing at this address.')),
  );
  app.addHook('onSend', (request, reply, payload) => gzipped(request, reply, payload, compressedBytesMin));
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/healthz', async (_request, reply) => {
    const { statusCode, body } = healthOf(health, Date.now());
    reply.code(statusCode);
    return body;
  });
  if (metrics !== undefined) {
    app.get('/metrics', async (_request, reply) => {
      reply.type(metrics.contentType);
      return metrics.text();
    });
  }
  return app;
}

/** The endpoints of lists and changes: each needs the token, and need not be sent again while the client knows it. */
function addListRoutes(app: FastifyInstance, { source, changes, token }: AppOptions): void {
  const checkToken = bearerCheck(token);
  app.addHook('onRequest', async request => checkToken(request));
  for (const list of lists) {
    app.get<{ Querystring: Query }>(list.path, async (request, reply) => {
      const place = turnTo(request.query);
      // Taken before the records: where a run ends between the two, the client asks once too often, never too seldom.
      if (isKnownTo(request.headers['if-none-match'], reply, source.revision?.())) return reply.send();
      reply.type(json);
      return listPage(source, list, place);
    });
  }
  if (changes === undefined) return;
  app.get<{ Querystring: Query }>('/v2/changes', async (request, reply) => {
    const revision = source.revision?.();
    const body = changePage(changes, request.query);
    if (isKnownTo(request.headers['if-none-match'], reply, revision)) return reply.send();
    reply.type(json);
    return body;
  });
}

function boundedServer(bounds: Omit<ServerLimits, 'compressedBytesMin'>): FastifyInstance {
  const app = fastify({
    http: {
      maxHeaderSize: bounds.headerBytesMax,
      headersTimeout: bounds.requestTimeoutMs,
      requestTimeout: bounds.requestTimeoutMs,
      connectionsCheckingInterval: bounds.requestCheckMs,
    },
    requestTimeout: bounds.requestTimeoutMs,
    connectionTimeout: bounds.idleTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    // The router refuses some addresses before any hook runs.
    frameworkErrors: (error, _request, reply) => sendError(protect(reply), toHttpError(error)),
  });
  app.server.maxConnections = bounds.connectionsMax;
  return app;
}

const protection = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
};

function protect(reply: FastifyReply): FastifyReply {
  return reply.headers(protection);
}
