import compress from '@fastify/compress';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { lists } from '../contract/lists.ts';
import { checkRequest, tokenCheck } from './guards.ts';
import { HttpError, sendError, toHttpError } from './http-error.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { listPage, type Query } from './list-page.ts';
import type { RecordSource } from './record-source.ts';

export interface AppOptions {
  readonly source: RecordSource;
  /** What clients must send as their bearer token. */
  readonly token: string;
  /** Told of each error that was answered with 500; the client learns nothing of it. */
  readonly onFault?: (error: unknown) => void;
  readonly limits?: Partial<ServerLimits>;
}

const json = 'application/json; charset=utf-8';

/** Builds the read-only HTTP server over a source of records; it does not listen yet. */
export async function buildApp({ source, token, onFault, limits }: AppOptions): Promise<FastifyInstance> {
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
  await app.register(compress, {
    encodings: ['gzip'],
    threshold: compressedBytesMin,
    globalDecompression: false,
  });
  app.get('/healthz', async () => ({ status: 'ok' }));
  await app.register(async scope => addListRoutes(scope, source, token));
  return app;
}

/** The three list endpoints; they alone need the token. */
function addListRoutes(app: FastifyInstance, source: RecordSource, token: string): void {
  const checkToken = tokenCheck(token);
  app.addHook('onRequest', async request => checkToken(request));
  for (const list of lists) {
    app.get<{ Querystring: Query }>(list.path, async (request, reply) => {
      reply.type(json);
      return listPage(source, list, request.query);
    });
  }
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

function protect(reply: FastifyReply): FastifyReply {
  return reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
}
