import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { HttpError } from './http.ts';

/** Lets a request pass, or throws an HttpError with status 401. */
type RequestCheck = (request: FastifyRequest) => Promise<void>;

/** The token of a server, and callbacks for requests with another one. */
export interface TokenOptions {
  /** The token that clients must send; not empty. */
  readonly token: string;
  /** Reads the token again before a request is refused; null if it can't be read. */
  readonly readToken?: () => Promise<string | null>;
  /** Called for each request that gave a wrong token. */
  readonly onRefused?: (request: FastifyRequest) => void;
}

/** Makes the checks of a server: for programs, and for browsers, which send the token as a password. They share the token. */
export function tokenChecks({
  token,
  readToken,
  onRefused,
}: TokenOptions): Record<'bearer' | 'basicOrBearer', RequestCheck> {
  if (token === '') throw new TypeError('A server needs a token that is not empty.');
  let expected = digest(token);
  // Digests are compared in constant time, so timing shows neither the token's length nor its start.
  const isExpected = (given: string) => timingSafeEqual(digest(given), expected);
  const check =
    (tokenOf: (authorization: string) => string | undefined, message: string, challenge: string) =>
    async (request: FastifyRequest) => {
      const given = tokenOf(request.headers.authorization ?? '');
      if (given !== undefined) {
        if (isExpected(given)) return;
        const fresh = (await readToken?.()) ?? null;
        if (fresh !== null) expected = digest(fresh);
        if (isExpected(given)) return;
        onRefused?.(request);
      }
      throw new HttpError(401, message, { 'www-authenticate': challenge });
    };
  return {
    bearer: check(
      bearerOf,
      'This needs the header "Authorization: Bearer TOKEN" with the token of this server.',
      'Bearer',
    ),
    basicOrBearer: check(
      authorization => bearerOf(authorization) ?? passwordOf(authorization),
      'This needs the token of this server: as the password under any user name, or as bearer token.',
      'Basic realm="docmirror", charset="UTF-8"',
    ),
  };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function bearerOf(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function passwordOf(authorization: string): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  return password;
}
