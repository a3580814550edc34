import type { IncomingHttpHeaders } from 'node:http';
import { getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { ServiceError } from '../errors.ts';
import { printable } from '../printable.ts';
import { explainFailure, type Failure, failureOf } from './failure.ts';
import { retryAfterMs } from './pacer.ts';
import type { Secrets } from './secrets.ts';

/** A proxy, as the settings name it. */
export interface ProxySetting {
  readonly variable: string;
  /** With user name and password. */
  readonly url: string;
  /** Without them. */
  readonly shown: string;
}

/** How requests are made. */
export interface HttpOptions {
  readonly baseUrl: string;
  /** From a request's start to its last byte. */
  readonly timeoutMs: number;
  /** The most requests at once. */
  readonly concurrency: number;
  readonly userAgent: string;
  /** If left out or null, the service is reached directly. */
  readonly proxy?: ProxySetting | null;
  /** Certificates (PEM) of authorities to trust besides Node's own; left out or null: none. */
  readonly extraCa?: string | null;
  /** The source of the token, in words that complete "the token came from". If it is left out, errors do not name it. */
  readonly tokenFrom?: string;
  /** Texts that no error can show. */
  readonly secrets: Secrets;
}

/** The largest answer that is read, in bytes after decompression. */
const responseBytesMax = 64 * 1024 * 1024;

/** Bytes and milliseconds to spend on a body that nobody needs, so that its connection can be used again. */
const dumpBytesMax = 64 * 1024;
const dumpMsMax = 1_000;

const unzip = promisify(gunzip);

/** Makes GET requests to one service, with its limits, without retries. */
export class HttpClient {
  readonly #options: HttpOptions;
  readonly #origin: string;
  readonly #basePath: string;
  #connections: Promise<Dispatcher> | undefined;
  requests = 0;
  /** Bytes of the answers' bodies as received, before decompression. */
  bytes = 0;

  constructor(options: HttpOptions) {
    const { origin, pathname } = new URL(options.baseUrl);
    this.#options = options;
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/+$/, '');
  }

  /**
   * Gets a path, with its query, below the base address and returns the body's bytes, decompressed.
   *
   * @throws ServiceError for anything but a complete answer with status 200; its message shows no secret.
   */
  async get(path: string, token: string, signal: AbortSignal, timeoutMs: number): Promise<Buffer> {
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
    this.requests++;
    try {
      return await Promise.race([this.#request(address, token, ending.signal), abortOf(ending.signal)]);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError) throw error;
      const { proxy } = this.#options;
      throw this.#error(address, explainFailure(error, proxy?.variable, isOver, timeoutMs), { cause: error });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  async close(): Promise<void> {
    await (await this.#connections)?.destroy();
  }

  async #request(path: string, token: string, signal: AbortSignal): Promise<Buffer> {
    this.#connections ??= connectTo(this.#options);
    const { statusCode, headers, body } = await request.call(await this.#connections, {
      origin: this.#origin,
      method: 'GET',
      path,
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
      throw this.#refusal(statusCode, headers, path);
    }
    const bytes = Buffer.from(await body.arrayBuffer());
    this.bytes += bytes.length;
    // The name of another encoding is not shown: it could be an echo of a secret.
    const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
    if (encoding === '' || encoding === 'identity') return bytes;
    if (encoding === 'gzip') return unzip(bytes, { maxOutputLength: responseBytesMax });
    const words = 'answered in an encoding that was not asked for';
    throw this.#error(path, { code: 'invalid_response', words, retryable: false });
  }

  #refusal(status: number, headers: IncomingHttpHeaders, path: string): ServiceError {
    const { code, words, retryable } = failureOf(status);
    const { tokenFrom } = this.#options;
    const isOfToken = code === 'unauthorized' || code === 'forbidden';
    const from = isOfToken && tokenFrom !== undefined ? `; the token came from ${tokenFrom}` : '';
    const here = this.#origin + path;
    const target = code === 'redirected' ? URL.parse(headers.location ?? here, here) : null;
    // Without its query and its account, which can be secret.
    const to = target === null ? '' : `. It points to ${target.origin}${target.pathname}`;
    const wait = retryAfterMs(headers['retry-after'], Date.now());
    const failure = { code, words: `${words}${from}${to}`, retryable };
    return this.#error(path, failure, { retryAfterMs: wait, isBare: status === 204 });
  }

  #error(path: string, { code, words, retryable }: Failure, more = {}): ServiceError {
    const { proxy, secrets } = this.#options;
    const way = proxy ? ` through the proxy ${proxy.shown}` : '';
    const message = `GET ${this.#origin}${path}${way} ${words}`;
    return new ServiceError(code, printable(secrets.redact(message)), { ...more, retryable });
  }
}

/** How long an idle connection is kept, in milliseconds. */
const keepAliveMs = 4_000;

/** Makes the connections to the service: direct ones, or through the proxy and never around it. */
export async function connectTo({
  baseUrl,
  timeoutMs,
  concurrency,
  proxy,
  extraCa,
}: Omit<HttpOptions, 'userAgent' | 'secrets'>): Promise<Dispatcher> {
  // Whatever the environment says.
  const tls = {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(extraCa && { ca: [...getCACertificates('default'), extraCa] }),
  } as const;
  const limits = {
    connections: concurrency,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: responseBytesMax,
    connectTimeout: timeoutMs,
    keepAliveTimeout: keepAliveMs,
    allowH2: false,
  };
  if (!proxy) return new Pool(new URL(baseUrl).origin, { ...limits, connect: tls });
  // Loaded only if it is needed, because it loads all of undici.
  const { ProxyAgent } = await import('undici');
  return new ProxyAgent({
    ...limits,
    uri: proxy.url,
    requestTls: tls,
    proxyTls: tls,
    // Without these limits, a request to the proxy for a tunnel could wait for minutes.
    clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: timeoutMs }),
  });
}

/** Rejects when the signal comes: until a connection is made, undici does not listen to it. */
export function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
