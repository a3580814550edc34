import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { connect, getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { codeOf, ServiceError } from '../errors.ts';
import { printable } from '../printable.ts';
import { toAnyAddress } from './any-address.ts';
import type { AwakeClock } from './pace.ts';
import { brokenConnection, type NoPage, numbersOfRefusal, statuses } from './refusals.ts';
import { type RetryAfter, retryAfterForm, waitOf } from './retry-policy.ts';
import type { Secrets } from './secrets.ts';

/** How requests are made. */
export interface HttpOptions {
  readonly baseUrl: string;
  /** Parameters that each address gets, as they are sent; null or left out: none. Errors do not show them. */
  readonly query?: string | null;
  /** From a request's start to its last byte. */
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly userAgent: string;
  /** The variable that names a proxy, its address, and that without secrets. If left out or null, the service is reached directly. */
  readonly proxy?: { readonly variable: string; readonly url: string; readonly shown: string } | null;
  /** Certificates (PEM) of authorities to trust besides Node's own; left out or null: none. */
  readonly extraCa?: string | null;
  /** The certificate of docmirror itself and its key (PEM); left out or null: none. A proxy never gets it. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string } | null;
  /** Further headers for each request, by names in small letters; left out: none. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** The source of the token, in words that complete "the token came from". If it is left out, errors do not name it. */
  readonly tokenFrom?: string;
  readonly secrets: Secrets;
}

/** The largest answer that is read, in bytes after decompression. */
const responseBytesMax = 64 * 1024 * 1024;

/** The largest header section of an answer that is read, in bytes. */
const headerBytesMax = 64 * 1024;

const unzip = promisify(gunzip);

/** An answer's body, decompressed, and what it was beside that. */
export interface Body {
  readonly bytes: Buffer;
  /** How long a cache had kept it (`Age`). */
  readonly ageMs: number;
  /** How long the service wants to be left alone, and the form of its `Retry-After`; null if it does not say so. */
  readonly waitMs: number | null;
  readonly retryAfter: RetryAfter;
  /** From the request to the last byte, in milliseconds, and how many bytes were received. */
  readonly ms: number;
  readonly received: number;
  readonly isCompressed: boolean;
  readonly hasEtag: boolean;
}

/** Makes GET requests to one service, with its limits, without retries. */
export class HttpClient {
  readonly #options: HttpOptions;
  readonly #clock: AwakeClock;
  #connections: Promise<Dispatcher> | undefined;
  readonly #closing = new AbortController();
  requests = 0;
  /** Bytes of the answers' bodies as received, before decompression. */
  bytes = 0;

  constructor(options: HttpOptions, clock: AwakeClock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Gets a path below the base address. Throws a ServiceError, without secrets, for all but a complete answer with status 200. */
  async get(path: string, token: string, signal: AbortSignal, timeoutMs: number): Promise<Body> {
    const url = new URL(`${this.#options.baseUrl}${path}`);
    signal.throwIfAborted();
    // A signal of its own: one that lives on, as AbortSignal.timeout does, would hold the answer's bytes until it is over.
    const ending = new AbortController();
    const end = () => ending.abort();
    const stopTimer = this.#clock.after(timeoutMs, end);
    signal.addEventListener('abort', end, { once: true });
    this.requests++;
    try {
      return await Promise.race([this.#request(url, token, ending.signal), abortOf(ending.signal)]);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError) throw error;
      if (codeOf(error) === 'CERT_HAS_EXPIRED' && !this.#options.proxy) {
        const why = await expiredAt(url, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
        throw this.#error(url, ['certificate', `was not sent, because ${why} (CERT_HAS_EXPIRED)`]);
      }
      const isOver = ending.signal.aborted || codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT';
      const late: NoPage = ['timeout', `did not answer completely within ${timeoutMs} ms`];
      const failure = isOver ? late : brokenConnection(error, this.#options.proxy?.variable);
      throw this.#error(url, failure, { cause: error, isUnreadable: failure[0] === 'invalid_response' });
    } finally {
      stopTimer();
      signal.removeEventListener('abort', end);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await (await this.#connections)?.destroy();
  }

  async #request(url: URL, token: string, signal: AbortSignal): Promise<Body> {
    const sentAtMs = performance.now();
    this.#connections ??= connectTo(this.#options, this.#closing.signal);
    const { statusCode, headers, body } = await request.call(await this.#connections, {
      origin: url.origin,
      method: 'GET',
      path: `${url.pathname}${this.#searchOf(url)}`,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'accept-encoding': 'gzip',
        // A cache could give both readings the same old page of a list that has changed.
        'cache-control': 'no-cache',
        'user-agent': this.#options.userAgent,
        ...this.#options.headers?.(),
      },
      signal,
    });
    if (statusCode !== 200) {
      const refusal = this.#refusal(statusCode, headers, url);
      if (refusal.code === 'refused') refusal.numbers = await numbersOfRefusal(body, headers, statusCode);
      // The status says enough. A body that never ends blocks only its connection, and only for a second.
      else body.dump({ limit: 65_536, signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
      throw refusal;
    }
    const bytes = Buffer.from(await body.arrayBuffer());
    this.bytes += bytes.length;
    // The name of another encoding is not shown: it could be an echo of a secret.
    const encoding = String(headers['content-encoding'] ?? '').replace(/\bidentity\b|[\s,]/gi, '');
    const ageMs = 1_000 * Number(/^\d{1,9}$/.exec(String(headers.age ?? ''))?.[0] ?? 0);
    const answer = {
      ageMs,
      waitMs: waitOf(headers, Date.now()),
      ms: performance.now() - sentAtMs,
      received: bytes.length,
      isCompressed: encoding !== '',
      hasEtag: headers.etag !== undefined,
      retryAfter: retryAfterForm(headers),
    };
    if (encoding === '') return { bytes, ...answer };
    if (/^(x-)?gzip$/i.test(encoding))
      return { bytes: await unzip(bytes, { maxOutputLength: responseBytesMax }), ...answer };
    const words = 'answered in an encoding that was not asked for';
    throw this.#error(url, ['invalid_response', words, false], { retryAfterMs: answer.waitMs });
  }

  #searchOf({ search }: URL): string {
    const { query } = this.#options;
    return query ? `${search}${search === '' ? '?' : '&'}${query}` : search;
  }

  #refusal(status: number, headers: IncomingHttpHeaders, url: URL): ServiceError {
    const [code, words] = statuses[status] ??
      statuses[Math.floor(status / 100)] ?? ['invalid_response', 'a page was expected'];
    const { tokenFrom } = this.#options;
    const isOfToken = code === 'unauthorized' || code === 'forbidden';
    const from = isOfToken && tokenFrom !== undefined ? `; the token came from ${tokenFrom}` : '';
    const target = code === 'redirected' ? URL.parse(headers.location ?? '', url.href) : null;
    // Without its query and its account, which can be secret.
    const to = target === null ? '' : `. It points to ${target.origin}${target.pathname}`;
    const what = `answered ${status}`;
    const wait = { retryAfterMs: waitOf(headers, Date.now()), retryAfter: retryAfterForm(headers) };
    const more = { ...wait, isBare: status === 204, what, status };
    return this.#error(url, [code, `answered ${status}: ${words}${from}${to}`], more);
  }

  #error(url: URL, [code, words, retryable = true]: NoPage, more = {}): ServiceError {
    const { proxy, secrets } = this.#options;
    const shown = (address: URL | string) =>
      printable(secrets.redact(`GET ${address}${proxy ? ` through the proxy ${proxy.shown}` : ''} ${words}`));
    const ofAnyList = shown(new URL('…', url).href.replace(encodeURI('…'), '…'));
    const what = printable(secrets.redact(words));
    return new ServiceError(code, shown(url), { what, ...more, retryable, ofAnyList });
  }
}

/** Makes the connections to the service: direct ones, or through the proxy and never around it. */
export async function connectTo(
  options: Omit<HttpOptions, 'userAgent' | 'secrets'>,
  closing?: AbortSignal,
): Promise<Dispatcher> {
  const { timeoutMs, proxy, extraCa, clientCertificate } = options;
  // Whatever the environment says.
  const tls = {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(extraCa && { ca: [...getCACertificates('default'), extraCa] }),
  } as const;
  const own = clientCertificate && { cert: clientCertificate.cert, key: clientCertificate.key };
  const toService = { ...tls, ...own };
  const limits = {
    connections: options.concurrency,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: responseBytesMax,
    maxHeaderSize: headerBytesMax,
    connectTimeout: timeoutMs,
    keepAliveTimeout: 4_000,
    allowH2: false,
  };
  if (!proxy) {
    const secure = buildConnector({ ...toService, timeout: timeoutMs, allowH2: false });
    return new Pool(new URL(options.baseUrl).origin, {
      ...limits,
      connect: endingAtError(toAnyAddress(secure, timeoutMs, closing)),
    });
  }
  // Loaded only if it is needed, because it loads all of undici.
  const { ProxyAgent } = await import('undici');
  const isTunnel = options.baseUrl.startsWith('https:');
  type Own = { readonly connect: buildConnector.connector };
  const toProxy = ({ connect }: Own) => ({ connect: toAnyAddress(connect, timeoutMs, closing) });
  return new ProxyAgent({
    ...limits,
    uri: proxy.url,
    requestTls: toService,
    proxyTls: tls,
    // Without these limits, a request to the proxy for a tunnel could wait for minutes.
    clientFactory: (origin, own) => new Pool(origin, { ...toProxy(own as Own), headersTimeout: timeoutMs }),
    // Its own connections go through a tunnel, or for http to the proxy.
    factory: (origin, own) =>
      new Pool(origin, {
        ...limits,
        ...own,
        ...(isTunnel ? { connect: endingAtError((own as Own).connect) } : toProxy(own as Own)),
      }),
  });
}

/** A refused client certificate is an error after the handshake. Without this, undici forgets it because the end of the connection follows. */
function endingAtError(connect: buildConnector.connector): buildConnector.connector {
  return (options, done) =>
    connect(options, (...made) => {
      const [, socket] = made;
      socket?.once('error', error => socket.destroy(error));
      done(...made);
    });
}

/** Whose certificate has expired, and when: OpenSSL's error does not say that. Nothing is sent. */
async function expiredAt({ hostname, port }: URL, signal: AbortSignal): Promise<string> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const servername = isIP(host) ? '' : host;
  const socket = connect({ host, port: Number(port) || 443, servername, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect', { signal });
    let cert = socket.getPeerCertificate(true);
    const hasExpired = () => Date.parse(cert.valid_to) < Date.now();
    // One further up can be it. The last one is its own issuer.
    while (!hasExpired() && cert.issuerCertificate !== cert) cert = cert.issuerCertificate;
    if (!hasExpired()) return 'a certificate has expired';
    return `the certificate of ${cert.subject.CN ?? host} expired on ${new Date(cert.valid_to).toISOString()}`;
  } catch {
    return 'a certificate has expired';
  } finally {
    socket.destroy();
  }
}

/** Rejects when the signal comes: until a connection is made, undici does not listen to it. */
export function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
