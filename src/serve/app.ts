import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { browsables } from '../contract/browsable.ts';
import { connectionsPath, type ListDefinition, lists } from '../contract/lists.ts';
import { type ChangeSource, changePage } from './change-page.ts';
import { boundConnections } from './connections.ts';
import { isKnownTo } from './etag.ts';
import { checkRequest, type RequestCheck, type TokenOptions, tokenChecks } from './guards.ts';
import { gzipped } from './gzip.ts';
import { type HealthSource, healthOf } from './health.ts';
import { HttpError, sendError, toHttpError } from './http-error.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { type FilteredSource, filteredPage, listPage } from './list-page.ts';
import { isFiltered, type Query } from './list-query.ts';
import type { Metrics } from './metrics.ts';
import { addPageRoutes, type ServedPages } from './pages.ts';
import type { RecordSource } from './record-source.ts';

/** Options of the endpoints that show no record data and so need no token. */
export interface MonitorOptions {
  readonly health?: HealthSource;
  readonly metrics?: Metrics;
  /** Called with each error that was answered with status 500 or higher. The client does not see its details. */
  readonly onFault?: (error: unknown) => void;
  /** Called for each request after it was answered. */
  readonly onAnswer?: (answer: Answered) => void;
  readonly limits?: Partial<ServerLimits>;
}

/** A request that was answered. */
export interface Answered {
  readonly method: string;
  /** The address without its query, because the query can contain what a person searched for. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  /** The IP address of the client. */
  readonly client: string;
}

/** The records, pages and changes that the server serves, in addition to the monitor's endpoints. */
export interface AppOptions extends MonitorOptions, TokenOptions {
  readonly source: RecordSource;
  /** Gives filtered records. Without it, filters are refused. */
  readonly filtered?: FilteredSource;
  readonly pages?: ServedPages;
  readonly changes?: ChangeSource;
}

const json = 'application/json; charset=utf-8';

/** Builds the read-only HTTP server over a source of records; it does not listen yet. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { pages } = options;
  const checks = tokenChecks(options);
  const app = await buildMonitorApp(options);
  app.get('/openapi.json', async (_request, reply) => {
    const { openApiDocument } = await import('./openapi.ts');
    reply.type(json);
    return JSON.stringify(openApiDocument(options));
  });
  await app.register(async scope => addListRoutes(scope, options, checks.bearer));
  if (pages !== undefined)
    await app.register(async scope => addPageRoutes(scope, pages, checks.basicOrBearer));
  return app;
}

/** Builds a server that answers health checks and metrics, and nothing else. It does not listen yet. */
export async function buildMonitorApp(options: MonitorOptions): Promise<FastifyInstance> {
  const { health, metrics, onFault, onAnswer, limits } = options;
  const { compressedBytesMin, ...bounds } = { ...defaultLimits, ...limits };
  const app = boundedServer(bounds);
  app.addHook('onRequest', async (request, reply) => {
    protect(reply);
    checkRequest(request);
  });
  if (onAnswer !== undefined)
    app.addHook('onResponse', async ({ method, url, ip }, { statusCode, elapsedTime }) => {
      const [path = ''] = url.split('?');
      onAnswer({ method, path, status: statusCode, durationMs: Math.round(elapsedTime), client: ip });
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

/** The endpoints of lists and changes. Each needs the token. An answer that the client already has is not sent again. */
function addListRoutes(
  app: FastifyInstance,
  { source, filtered, changes }: AppOptions,
  checkToken: RequestCheck,
): void {
  app.addHook('onRequest', checkToken);
  // The revision is taken before the records. If a run ends in between, the client asks once too often and misses nothing.
  const serve = (path: string, bodyOf: (query: Query) => string | Promise<string>) =>
    app.get<{ Querystring: Query }>(path, async (request, reply) => {
      const revision = source.revision?.();
      const body = await bodyOf(request.query);
      if (isKnownTo(request.headers['if-none-match'], reply, revision)) return reply.send();
      reply.type(json);
      return body;
    });
  for (const browsable of browsables) {
    const list = lists.find(({ resource }) => resource === browsable.resource);
    if (list === undefined && filtered === undefined) continue;
    serve(list?.path ?? connectionsPath, query =>
      filtered !== undefined && (list === undefined || isFiltered(query))
        ? filteredPage(filtered, browsable, query)
        : listPage(source, list as ListDefinition, query),
    );
  }
  if (changes !== undefined) serve('/v2/changes', query => changePage(changes, query));
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
  boundConnections(app.server, bounds.connectionsMax);
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
