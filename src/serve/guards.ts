import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { HttpError } from './http-error.ts';

/**
 * Lets only requests pass that a read-only server can understand.
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

/** Lets a request pass, or throws an HttpError with status 401. */
export type RequestCheck = (request: FastifyRequest) => Promise<void>;

/** The token of a server, and callbacks for requests with another one. */
export interface TokenOptions {
  /** The token that clients must send; not empty. */
  readonly token: string;
  /** Reads the token again before a request is refused; null if it can't be read. */
  readonly readToken?: () => Promise<string | null>;
  /** Called for each request that gave a wrong token. */
  readonly onRefused?: (request: FastifyRequest) => void;
}

/** Makes the checks of a server. They share its token. */
export function tokenChecks(options: TokenOptions): Record<'bearer' | 'basicOrBearer', RequestCheck> {
  const keeper = new TokenKeeper(options);
  return {
    bearer: keeper.check(bearerOf, {
      message: 'This needs the header "Authorization: Bearer TOKEN" with the token of this server.',
      challenge: 'Bearer',
    }),
    basicOrBearer: keeper.check(authorization => bearerOf(authorization) ?? passwordOf(authorization), {
      message:
        'This needs the token of this server: as the password under any user name, or as bearer token.',
      challenge: 'Basic realm="docmirror", charset="UTF-8"',
    }),
  };
}

/** Compares digests in constant time, so that timing shows neither the token's length nor its start. */
class TokenKeeper {
  readonly #options: TokenOptions;
  #expected: Buffer;
  #reading: Promise<void> | null = null;

  constructor(options: TokenOptions) {
    if (options.token === '') throw new TypeError('A server needs a token that is not empty.');
    this.#options = options;
    this.#expected = digest(options.token);
  }

  check(
    tokenOf: (authorization: string) => string | undefined,
    refusal: { readonly message: string; readonly challenge: string },
  ): RequestCheck {
    return async request => {
      const given = tokenOf(request.headers.authorization ?? '');
      if (given !== undefined) {
        if (this.#is(given)) return;
        // All requests that wait share one read of the token.
        this.#reading ??= this.#readAgain().finally(() => {
          this.#reading = null;
        });
        await this.#reading;
        if (this.#is(given)) return;
        this.#options.onRefused?.(request);
      }
      throw new HttpError(401, refusal.message, { 'www-authenticate': refusal.challenge });
    };
  }

  #is(given: string): boolean {
    return timingSafeEqual(digest(given), this.#expected);
  }

  async #readAgain(): Promise<void> {
    const token = (await this.#options.readToken?.()) ?? null;
    if (token !== null) this.#expected = digest(token);
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
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
