import type { IncomingHttpHeaders } from 'node:http';
import { getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { codeOf, type ErrorCode, ServiceError } from '../errors.ts';
import { printable } from '../printable.ts';
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
    const timer = setTimeout(end, timeoutMs);
    signal.addEventListener('abort', end, { once: true });
    this.requests++;
    try {
      return await Promise.race([this.#request(address, token, ending.signal), abortOf(ending.signal)]);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError) throw error;
      const failure = explainFailure(error, this.#options.proxy?.variable, ending.signal.aborted, timeoutMs);
      throw this.#error(address, failure, { cause: error });
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

/** Why a request got no page, and whether another try can help; `words` complete "GET …". */
interface Failure {
  readonly code: ErrorCode;
  readonly words: string;
  readonly retryable: boolean;
}

/** By status, or by its hundreds. */
const statuses: Readonly<Record<number, readonly [ErrorCode, words: string, retryable: boolean]>> = {
  401: ['unauthorized', 'the token was refused', false],
  403: ['forbidden', 'the token does not allow this list', false],
  404: ['not_found', 'there is no page at this address', false],
  408: ['timeout', 'the service gave up waiting', true],
  425: ['overloaded', 'it is too early', true],
  429: ['overloaded', 'too many requests', true],
  503: ['overloaded', 'the service is not available', true],
  5: ['server_error', 'the service failed', true],
  4: ['refused', 'the request was refused', false],
  3: ['redirected', 'redirects are not followed; name the final address', false],
};

/** Explains a status other than 200. */
function failureOf(status: number): Failure {
  const [code, words, retryable] = statuses[status] ??
    statuses[Math.floor(status / 100)] ?? ['invalid_response', 'a page was expected', true];
  return { code, words: `answered ${status}: ${words}`, retryable };
}

/** What the codes of OpenSSL and Node mean, if no other try can help. */
const refusals: readonly [code: RegExp, ErrorCode, because: string][] = [
  [
    /CERT_|ALTNAME|HOSTNAME_MISMATCH|SELF_SIGNED|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/,
    'certificate',
    'the certificate is not accepted',
  ],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/, 'tls', 'the service offers no TLS 1.2 or newer'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/, 'tls', 'what answers there is not TLS'],
];

/**
 * Explains an error of the connection.
 *
 * @param proxy the variable that names the proxy; undefined if there is none.
 * @param isOver whether the timeout of the request is over.
 */
function explainFailure(
  error: unknown,
  proxy: string | undefined,
  isOver: boolean,
  timeoutMs: number,
): Failure {
  const code = codeOf(error) ?? '';
  if (isOver || code === 'UND_ERR_CONNECT_TIMEOUT')
    return { code: 'timeout', words: `did not answer completely within ${timeoutMs} ms`, retryable: true };
  if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const words = 'answered with more than 64 MiB; set DOCMIRROR_PAGE_SIZE to less';
    return { code: 'response_too_large', words, retryable: false };
  }
  if (code.startsWith('Z_'))
    return { code: 'invalid_response', words: 'answered with broken gzip', retryable: true };
  const detail = error instanceof Error && error.message !== '' ? error.message : code || 'no detail';
  for (const [pattern, errorCode, because] of refusals)
    if (pattern.test(code))
      return { code: errorCode, words: `was not sent, because ${because} (${code})`, retryable: false };
  const ofProxy = proxy === undefined ? null : proxyFailure(code, detail, proxy);
  return ofProxy ?? { code: 'network', words: `could not be read: ${detail}`, retryable: true };
}

/** With a proxy, the host that can't be reached is the proxy: it alone connects to the service. */
function proxyFailure(code: string, detail: string, variable: string): Failure | null {
  const failure = (because: string, retryable: boolean): Failure => {
    return { code: 'proxy', words: `was not sent, because the proxy ${because}`, retryable };
  };
  const status = Number(/Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(detail)?.[1]);
  if (status === 407)
    return failure(
      `wants a user name and a password (407). Put the right ones into ${variable}, as http://NAME:PASSWORD@HOST:PORT`,
      false,
    );
  if (status > 0)
    return failure(`did not connect to the service (${status})`, status >= 500 || status === 429);
  return /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|PRX|SOCKET))/.test(code)
    ? failure(`does not answer (${detail}). Check ${variable}, or add the service's host to NO_PROXY`, true)
    : null;
}
