import type { FastifyReply, FastifyRequest } from 'fastify';
import { OtherShapeError } from '../errors.ts';
import { version } from '../version.ts';

const codes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  404: 'not_found',
  405: 'method_not_allowed',
  410: 'cursor_lost',
  503: 'unavailable',
};

/** When to ask again if the mirror or docmirror needs an upgrade, in seconds. */
const upgradeS = 60;

/** A request that is refused; its message is for the client. */
export class HttpError extends Error {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(statusCode: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'HttpError';
    this.statusCode = statusCode;
    this.headers = headers;
  }
}

/** Sends `{"error": {"code", "message"}}` under the error's status. */
export function sendError(reply: FastifyReply, { statusCode, headers, message }: HttpError): FastifyReply {
  const code = codes[statusCode] ?? (statusCode < 500 ? 'refused' : 'internal');
  return reply.code(statusCode).headers(headers).send({ error: { code, message } });
}

/** The error that the client sees. It explains a refusal or a mirror in another format, and hides the details of any other error. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof OtherShapeError)
    return new HttpError(503, error.withoutPath, { 'retry-after': String(upgradeS) });
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return new HttpError(status, 'The request is malformed.');
  return new HttpError(500, 'The server failed to answer; its log says why.');
}

/** Sends an answer with its `ETag`, or 304 with the same headers if the client has it. It is made in any case: a wrong request is refused. */
export function sendTagged(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { revision, type, body }: { readonly revision: string; readonly type: string; readonly body: string },
): FastifyReply {
  // A cache can keep the answer for this client only, and must ask each time if it is still current. A page of another version of
  // the program can have another style.
  const etag = `W/"${version.replaceAll('.', '_')}-${revision}"`;
  reply.type(type).headers({ etag, 'cache-control': 'private, no-cache', vary: 'authorization' });
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  const known = headers['if-none-match']?.split(',').map(opaque) ?? [];
  return known.some(tag => tag === '*' || tag === opaque(etag)) ? reply.code(304).send() : reply.send(body);
}
