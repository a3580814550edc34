import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { HttpError } from './http-error.ts';

/**
 * Lets only requests through that a read-only server can understand.
 *
 * @throws HttpError with status 405 for a method that is not for reading, 400 for an address that is not well-formed.
 */
export function checkRequest({ method, raw }: FastifyRequest): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError(405, 'Only GET and HEAD are served here.', { allow: 'GET, HEAD' });
  }
  if (!isWellFormed(raw.url ?? '')) {
    throw new HttpError(
      400,
      'The address contains a percent-encoding that is not well-formed UTF-8, or a null character.',
    );
  }
}

/** Lets a request through, or throws an HttpError with status 401. */
type TokenCheck = (request: FastifyRequest) => void;

/** Makes the check for programs: the token is the bearer token. */
export function bearerCheck(token: string): TokenCheck {
  return tokenCheck(token, bearerOf, {
    message: 'This needs the header "Authorization: Bearer TOKEN" with the token of this server.',
    challenge: 'Bearer',
  });
}

/** Makes the check for browsers, too: the token is the bearer token, or the password under any user name. */
export function basicOrBearerCheck(token: string): TokenCheck {
  return tokenCheck(token, authorization => bearerOf(authorization) ?? passwordOf(authorization), {
    message: 'This needs the token of this server: as the password under any user name, or as bearer token.',
    challenge: 'Basic realm="docmirror", charset="UTF-8"',
  });
}

/** Digests are compared, in constant time, so that neither the token's length nor its start can be found out by timing. */
function tokenCheck(
  token: string,
  tokenOf: (authorization: string) => string | undefined,
  refusal: { readonly message: string; readonly challenge: string },
): TokenCheck {
  if (token === '') throw new TypeError('A server needs a token that is not empty.');
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const expected = digest(token);
  return ({ headers }) => {
    const given = tokenOf(headers.authorization ?? '');
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return;
    throw new HttpError(401, refusal.message, { 'www-authenticate': refusal.challenge });
  };
}

function bearerOf(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function passwordOf(authorization: string): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colonAt = decoded.indexOf(':');
  return colonAt < 0 ? undefined : decoded.slice(colonAt + 1);
}

function isWellFormed(target: string): boolean {
  try {
    return !decodeURIComponent(target).includes('\0');
  } catch {
    return false;
  }
}
