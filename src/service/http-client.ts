import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { errors, Pool } from 'undici';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { retryAfterMs } from './retry-after.ts';

/** The largest answer that is read, decompressed, in bytes. */
export const responseBytesMax = 64 * 1024 * 1024;

export interface HttpClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** One request, from its start to the last byte, in milliseconds. */
  readonly timeoutMs: number;
  readonly connections: number;
  readonly userAgent: string;
}

const unzip = promisify(gunzip);

/** One GET at a time of one service: with its limits, without retries. */
export class HttpClient {
  readonly #pool: Pool;
  readonly #options: HttpClientOptions;
  readonly #basePath: string;
  #requests = 0;
  #bytes = 0;

  constructor(options: HttpClientOptions) {
    const base = new URL(options.baseUrl);
    this.#options = options;
    this.#basePath = base.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(base.origin, {
      connections: options.connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: options.timeoutMs,
      keepAliveTimeout: 4_000,
    });
  }

  get requests(): number {
    return this.#requests;
  }

  /** Bytes of the answers' bodies, as they came over the wire. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Gets a path below the base address and returns the body's bytes, decompressed.
   *
   * @throws ServiceError for anything but a whole answer with status 200.
   */
  async get(path: string, query: Record<string, number>, signal: AbortSignal): Promise<Buffer> {
    const address = `${this.#basePath}${path}${toQuery(query)}`;
    const deadline = new Deadline(this.#options.timeoutMs, signal);
    this.#requests++;
    try {
      return await this.#request(address, deadline.signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#explain(error, address, deadline);
    } finally {
      deadline.clear();
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #request(address: string, signal: AbortSignal): Promise<Buffer> {
    const { statusCode, headers, body } = await this.#pool.request({
      method: 'GET',
      path: address,
      headers: {
        authorization: `Bearer ${this.#options.token}`,
        accept: 'application/json',
        'accept-encoding': 'gzip',
        'user-agent': this.#options.userAgent,
      },
      signal,
    });
    if (statusCode !== 200) {
      await body.dump({ limit: 64 * 1024 }).catch(() => undefined);
      throw this.#refusal(statusCode, single(headers['retry-after']), address);
    }
    const bytes = await this.#collect(body, address);
    const encoding = single(headers['content-encoding'])?.toLowerCase() ?? 'identity';
    if (encoding === 'identity') return bytes;
    if (encoding === 'gzip' || encoding === 'x-gzip')
      return unzip(bytes, { maxOutputLength: responseBytesMax });
    throw this.#error(
      'invalid_response',
      `answered in an encoding that was not asked for (${encoding})`,
      address,
      false,
    );
  }

  async #collect(body: AsyncIterable<Buffer>, address: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      this.#bytes += chunk.length;
      if (length > responseBytesMax) throw this.#tooLarge(address);
    }
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length);
  }

  #refusal(status: number, retryAfter: string | undefined, address: string): ServiceError {
    const { code, meaning, retryable } = meaningOf(status);
    return new ServiceError(code, `${this.#name(address)} answered ${status}: ${meaning}`, {
      retryable,
      status,
      retryAfterMs: retryAfterMs(retryAfter, Date.now()),
    });
  }

  #explain(error: unknown, address: string, deadline: Deadline): unknown {
    if (error instanceof ServiceError) return error;
    if (deadline.isOver || error instanceof errors.ConnectTimeoutError) {
      const words = `did not answer whole within ${this.#options.timeoutMs} ms`;
      return this.#error('timeout', words, address, true, error);
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ERR_BUFFER_TOO_LARGE') return this.#tooLarge(address);
    if (code.startsWith('Z_'))
      return this.#error('invalid_response', 'answered with broken gzip', address, true, error);
    const detail = error instanceof Error && error.message !== '' ? error.message : code || 'no detail';
    return this.#error('network', `could not be read: ${detail}`, address, true, error);
  }

  #tooLarge(address: string): ServiceError {
    const words = `answered with more than ${responseBytesMax / 1024 / 1024} MiB; set DOCMIRROR_PAGE_SIZE to less`;
    return this.#error('response_too_large', words, address, false);
  }

  #error(code: ErrorCode, words: string, address: string, retryable: boolean, cause?: unknown): ServiceError {
    return new ServiceError(code, `${this.#name(address)} ${words}`, { retryable, cause });
  }

  #name(address: string): string {
    return `GET ${new URL(this.#options.baseUrl).origin}${address}`;
  }
}

/** Aborts a request when its time is over or the run is told to stop, and leaves no listener behind. */
class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal;
  readonly #onAbort = () => this.#controller.abort();
  isOver = false;

  constructor(timeoutMs: number, outer: AbortSignal) {
    this.#outer = outer;
    outer.throwIfAborted();
    outer.addEventListener('abort', this.#onAbort, { once: true });
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#onAbort);
  }
}

/** What a status other than 200 means, and whether another try may help. */
function meaningOf(status: number): { code: ErrorCode; meaning: string; retryable: boolean } {
  if (status === 401) return { code: 'unauthorized', meaning: 'the token was refused', retryable: false };
  if (status === 403)
    return { code: 'forbidden', meaning: 'the token does not allow this list', retryable: false };
  if (status === 404) return { code: 'not_found', meaning: 'there is no such page', retryable: false };
  if (status === 408) return { code: 'timeout', meaning: 'the service gave up waiting', retryable: true };
  if (status === 425 || status === 429)
    return { code: 'overloaded', meaning: 'too many requests', retryable: true };
  if (status === 503) return { code: 'overloaded', meaning: 'the service is not available', retryable: true };
  if (status >= 500) return { code: 'server_error', meaning: 'the service failed', retryable: true };
  if (status >= 400) return { code: 'refused', meaning: 'the request was refused', retryable: false };
  if (status >= 300) {
    return {
      code: 'redirected',
      meaning: 'redirects are not followed; name the final address',
      retryable: false,
    };
  }
  return { code: 'invalid_response', meaning: 'a page was expected', retryable: true };
}

function toQuery(query: Record<string, number>): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === '' ? '' : `?${text}`;
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
