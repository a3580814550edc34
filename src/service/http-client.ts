import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import { codeOf, type ErrorCode, ServiceError } from '../errors.ts';
import { printable } from '../printable.ts';
import { abortOf, type ConnectionOptions, connectTo } from './connection.ts';
import { explainFailure, failureOf } from './failure.ts';
import { retryAfterMs } from './pacer.ts';
import type { Secrets } from './secrets.ts';

/** The largest answer that is read, in bytes after decompression. */
const responseBytesMax = 64 * 1024 * 1024;

/** The first buffer, in bytes, for a body of unknown length; it is doubled as often as needed. */
const bodyBytesAtFirst = 64 * 1024;

/** Bytes and milliseconds to spend on a body that nobody needs, so that its connection can be used again. */
const dumpBytesMax = 64 * 1024;
const dumpMsMax = 1_000;

/** How requests are made; `timeoutMs` counts from a request's start to its last byte. */
interface HttpClientOptions extends ConnectionOptions {
  readonly userAgent: string;
  /** The source of the token, for errors about a refused token. If it is left out, they do not name it. */
  readonly tokenFrom?: string;
  /** Texts that no error can show. */
  readonly secrets: Secrets;
}

const unzip = promisify(gunzip);

/** Only these are named: any other text could be an echo of a secret. */
const encodingsKnown = new Set(['br', 'compress', 'deflate', 'zstd']);

/** Makes GET requests to one service, with its limits, without retries. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #basePath: string;
  #connections: Promise<Dispatcher> | undefined;
  #requests = 0;
  #bytes = 0;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#basePath = new URL(options.baseUrl).pathname.replace(/\/+$/, '');
  }

  get requests(): number {
    return this.#requests;
  }

  /** Bytes of the answers' bodies as received, before decompression. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Gets a path, with its query, below the base address and returns the body's bytes, decompressed.
   *
   * @throws ServiceError for anything but a complete answer with status 200; its message shows no secret.
   */
  async get(
    path: string,
    token: string,
    signal: AbortSignal,
    timeoutMs = this.#options.timeoutMs,
  ): Promise<Buffer> {
    const address = `${this.#basePath}${path}`;
    signal.throwIfAborted();
    // A signal of its own: one that lives on, as AbortSignal.timeout does, would hold the answer's bytes until it is over.
    const ending = new AbortController();
    const end = () => ending.abort();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      end();
    }, timeoutMs);
    signal.addEventListener('abort', end, { once: true });
    this.#requests++;
    try {
      // Until the connection is made, undici does not listen to the signal.
      return await Promise.race([this.#request(address, token, ending.signal), abortOf(ending.signal)]);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#explain(error, address, isOver ? timeoutMs : null);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  async close(): Promise<void> {
    await (await this.#connections)?.destroy();
  }

  async #request(address: string, token: string, signal: AbortSignal): Promise<Buffer> {
    this.#connections ??= connectTo(this.#options);
    const { statusCode, headers, body } = await request.call(await this.#connections, {
      origin: new URL(this.#options.baseUrl).origin,
      method: 'GET',
      path: address,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'accept-encoding': 'gzip',
        // A cache could give both readings the same old page of a list that has changed.
        'cache-control': 'no-cache',
        'user-agent': this.#options.userAgent,
      },
      signal,
    });
    if (statusCode !== 200) {
      // The status says enough. A body that never ends blocks only its connection, and only for a short time.
      body.dump({ limit: dumpBytesMax, signal: AbortSignal.timeout(dumpMsMax) }).catch(() => undefined);
      throw this.#refusal(statusCode, headers, address);
    }
    const bytes = await this.#collect(body, Number(headers['content-length'] ?? 0), address);
    const encoding = encodingIn(headers['content-encoding']);
    if (encoding === '') return bytes;
    if (encoding === 'gzip' || encoding === 'x-gzip')
      return unzip(bytes, { maxOutputLength: responseBytesMax });
    const named = encodingsKnown.has(encoding) ? ` (${encoding})` : '';
    const words = `answered in an encoding that was not asked for${named}`;
    throw this.#error('invalid_response', words, address, false);
  }

  /**
   * Collects a body while it arrives: to keep its pieces until all are there would take the memory twice.
   *
   * @param bytesStated its length as the service states it; 0 if it does not.
   */
  async #collect(body: AsyncIterable<Buffer>, bytesStated: number, address: string): Promise<Buffer> {
    let bytes = Buffer.allocUnsafeSlow(Math.min(bytesStated || bodyBytesAtFirst, responseBytesMax));
    let length = 0;
    for await (const chunk of body) {
      const next = length + chunk.length;
      this.#bytes += chunk.length;
      if (next > responseBytesMax) throw this.#tooLarge(address);
      if (next > bytes.length) bytes = Buffer.concat([bytes], Math.max(2 * bytes.length, next));
      bytes.set(chunk, length);
      length = next;
    }
    return bytes.subarray(0, length);
  }

  #refusal(status: number, headers: IncomingHttpHeaders, address: string): ServiceError {
    const { code, words, retryable } = failureOf(status);
    const { tokenFrom, baseUrl } = this.#options;
    const isOfToken = code === 'unauthorized' || code === 'forbidden';
    const from = isOfToken && tokenFrom !== undefined ? `; the token came from ${tokenFrom}` : '';
    const here = `${new URL(baseUrl).origin}${address}`;
    const target = code === 'redirected' ? URL.parse(headers.location ?? here, here) : null;
    // Without its query and its account, which can be secret.
    const to = target === null ? '' : `. It points to ${target.origin}${target.pathname}`;
    return new ServiceError(code, this.#say(address, `${words}${from}${to}`), {
      retryable,
      retryAfterMs: retryAfterMs([headers['retry-after']].flat()[0], Date.now()),
      isBare: status === 204,
    });
  }

  /** @param overMs the timeout, if it is over. */
  #explain(error: unknown, address: string, overMs: number | null): unknown {
    if (error instanceof ServiceError) return error;
    const code = codeOf(error) ?? '';
    if (overMs !== null || code === 'UND_ERR_CONNECT_TIMEOUT') {
      const words = `did not answer completely within ${overMs ?? this.#options.timeoutMs} ms`;
      return this.#error('timeout', words, address, true, error);
    }
    if (code === 'ERR_BUFFER_TOO_LARGE') return this.#tooLarge(address);
    if (code.startsWith('Z_'))
      return this.#error('invalid_response', 'answered with broken gzip', address, true, error);
    const failure = explainFailure(error, this.#options);
    return this.#error(failure.code, failure.words, address, failure.retryable, error);
  }

  #tooLarge(address: string): ServiceError {
    const words = `answered with more than ${responseBytesMax / 1024 / 1024} MiB; set DOCMIRROR_PAGE_SIZE to less`;
    return this.#error('response_too_large', words, address, false);
  }

  #error(code: ErrorCode, words: string, address: string, retryable: boolean, cause?: unknown): ServiceError {
    return new ServiceError(code, this.#say(address, words), { retryable, cause });
  }

  #say(address: string, words: string): string {
    const { baseUrl, proxy, secrets } = this.#options;
    const way = proxy ? ` through the proxy ${proxy.shown}` : '';
    return printable(secrets.redact(`GET ${new URL(baseUrl).origin}${address}${way} ${words}`));
  }
}

/**
 * The encoding of a body: each name in the header except `identity`, which means no encoding. Source: RFC 9110 §8.4.
 */
function encodingIn(header: string | string[] = []): string {
  const names = [header].flat().join().toLowerCase().split(',');
  return names
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity')
    .join();
}
