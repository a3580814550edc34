import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { HttpError } from './http.ts';

/** The token of a server, and callbacks for requests with another one. */
export interface TokenOptions {
  /** The token that clients must send; not empty. */
  readonly token: string;
  /** Reads the token again before a request is refused; null if it can't be read. */
  readonly readToken?: () => Promise<string | null>;
  /** Called for each request that gave a wrong token. */
  readonly onRefused?: (request: FastifyRequest) => void;
}

/** Makes a check that lets a request pass or throws a 401. Programs send the token as bearer, browsers also as a password. */
export function tokenCheck({ token, readToken, onRefused }: TokenOptions) {
  if (token === '') throw new TypeError('A server needs a token that is not empty.');
  let expected = digest(token);
  // Digests are compared in constant time, so timing shows neither the token's length nor its start.
  const isExpected = (given: string) => timingSafeEqual(digest(given), expected);
  return (isForBrowsers: boolean) =>
    async (request: FastifyRequest): Promise<void> => {
      const { authorization = '' } = request.headers;
      const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
      const given = bearer ?? (isForBrowsers ? passwordIn(authorization) : undefined);
      if (given !== undefined) {
        if (isExpected(given)) return;
        const fresh = (await readToken?.()) ?? null;
        if (fresh !== null) expected = digest(fresh);
        if (isExpected(given)) return;
        onRefused?.(request);
      }
      const how = isForBrowsers ? ', or as the password under any user name' : '';
      throw new HttpError(
        401,
        `This needs the token of this server as "Authorization: Bearer TOKEN"${how}.`,
        {
          'www-authenticate': isForBrowsers ? 'Basic realm="docmirror", charset="UTF-8"' : 'Bearer',
        },
      );
    };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function passwordIn(authorization: string): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1] ?? '';
  return /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}
