import { createHash, timingSafeEqual } from 'node:crypto';
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
      'The address holds a percent-encoding that is not well-formed UTF-8, or a null character.',
    );
  }
}

/**
 * Makes the check of the bearer token; it throws an HttpError with status 401 where the token is missing or wrong.
 * Digests are compared, in constant time, so that neither the token's length nor its start can be found out by timing.
 */
export function tokenCheck(token: string): (request: FastifyRequest) => void {
  if (token === '') throw new TypeError('A server needs a token that is not empty.');
  const expected = sha256(token);
  return ({ headers }) => {
    const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (given !== undefined && timingSafeEqual(sha256(given), expected)) return;
    throw new HttpError(
      401,
      'This needs the header "Authorization: Bearer TOKEN" with the token of this server.',
      {
        'www-authenticate': 'Bearer',
      },
    );
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

function isWellFormed(target: string): boolean {
  try {
    return !decodeURIComponent(target).includes('\0');
  } catch {
    return false;
  }
}
