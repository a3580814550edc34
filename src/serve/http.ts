import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { OtherShapeError } from '../errors.ts';
import { CursorLost } from '../store/read/history/feed.ts';

const codes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  404: 'not_found',
  405: 'method_not_allowed',
  410: 'cursor_lost',
  500: 'internal',
  503: 'unavailable',
};

/** When to ask again if the mirror or docmirror needs an upgrade, in seconds. */
const upgradeS = 60;

type Headers = Readonly<Record<string, string>>;

/** A request that is refused; its message is for the client. */
export class HttpError extends Error {
  readonly statusCode: number;
  readonly headers: Headers;

  /** @param cause for the log, if it is a fault that the client gets no details of */
  constructor(statusCode: number, message: string, headers: Headers = {}, cause?: Error) {
    super(message, { cause });
    this.statusCode = statusCode;
    this.headers = headers;
  }
}

/** The refusal of a query string whose parameters do not fit their schema. */
export function queryError(errors: readonly FastifySchemaValidationError[]): HttpError {
  const { instancePath, message, params } = errors[0] as FastifySchemaValidationError;
  const unknown = params.additionalProperty;
  const fault = `${instancePath.slice(1)} ${message} ${params.allowedValues ?? ''}`.trim();
  return new HttpError(400, unknown === undefined ? fault : `There is no parameter ${unknown} here.`);
}

/** Sends `{"error": {"code", "message"}}` under the error's status. */
export function sendError(reply: FastifyReply, { statusCode, headers, message }: HttpError): FastifyReply {
  const code = codes[statusCode] ?? 'refused';
  return reply.code(statusCode).headers(headers).send({ error: { code, message } });
}

/** The error that the client sees. It explains a refusal or a mirror in another format, and hides the details of any other error. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof OtherShapeError)
    return new HttpError(503, error.withoutPath, { 'retry-after': String(upgradeS) });
  if (error instanceof CursorLost)
    return new HttpError(410, `${error.message} Go on with sinceRun=${error.loss.sharedRunId}.`);
  const { statusCode = 500 } = error as { readonly statusCode?: number };
  if (statusCode < 500) return new HttpError(statusCode, 'The request is malformed.');
  return new HttpError(500, 'The server failed to answer; its log says why.');
}

/** Whether a client takes an answer that is packed with gzip, by its `Accept-Encoding`. */
export function takesGzip(accepted: string | string[] = ''): boolean {
  const codings = String(accepted).toLowerCase().split(',');
  const weighted = codings.map(each => {
    const [coding = '', weight = 'q=1'] = each.split(';').map(part => part.trim());
    return [coding, Number(weight.replace(/^q=/, ''))] as const;
  });
  const weights = new Map(weighted);
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

/** The token of a server, and callbacks for requests with another one. */
export interface TokenOptions {
  /** The token that clients must send; not empty. */
  readonly token: string;
  /** Reads the token again before a request is refused; null if it can't be read. */
  readonly readToken?: () => string | null;
  readonly onRefused?: (request: FastifyRequest) => void;
}

/** Makes a check that lets a request pass or throws a 401. Programs send the token as bearer, browsers also as a password. */
export function tokenCheck({ token, readToken, onRefused }: TokenOptions) {
  let expected = token;
  // Digests are compared in constant time, so timing shows neither the token's length nor its start.
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const isExpected = (given: string) => timingSafeEqual(digest(given), digest(expected));
  return (isForBrowsers: boolean) => async (request: FastifyRequest) => {
    const { authorization = '' } = request.headers;
    const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    const given = bearer ?? (isForBrowsers ? passwordIn(authorization) : undefined);
    if (given !== undefined) {
      if (isExpected(given)) return;
      expected = readToken?.() ?? expected;
      if (isExpected(given)) return;
      onRefused?.(request);
    }
    const message = 'This needs the token of this server, as bearer token or as the password of a page.';
    const scheme = isForBrowsers ? 'Basic realm="docmirror", charset="UTF-8"' : 'Bearer';
    throw new HttpError(401, message, { 'www-authenticate': scheme });
  };
}

function passwordIn(authorization: string): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1] ?? '';
  return /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}
