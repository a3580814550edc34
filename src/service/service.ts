// The service as a source of pages: one request after another until a page comes, with the token, the pace and the limit of tries.

import pRetry, { AbortError } from 'p-retry';
import type { ListDefinition } from '../contract/lists.ts';
import type { Page, PageRequest, PageSource } from '../contract/page.ts';
import { codeOf, ServiceError } from '../errors.ts';
import { type Body, HttpClient, type HttpOptions } from './http-client.ts';
import { AwakeClock, CircuitBreaker, RequestLimiter } from './pace.ts';
import { readPage } from './page.ts';
import { leftAloneError, type RetryAfter, verdictOn } from './retry-policy.ts';

/** How to reach the service, and how long to keep trying. */
export interface ServiceOptions extends HttpOptions {
  /** Asks for the token at its source, when the first request needs it, and when it has expired. */
  readonly readToken: () => Promise<string>;
  /** How long requests are repeated while no list gets a useful answer, in milliseconds; 0 means one try. */
  readonly giveUpAfterMs: number;
  /** Spaces requests evenly; left out or null: no spacing. */
  readonly maxRequestsPerSecond?: number | null;
  /** The first wait after a failed try, in milliseconds; `retryDelayMs` if left out. */
  readonly retryDelayMs?: number;
  /** Called with what answers show of the service: a fact of `service_facts`. Values in a list are those of single answers. */
  readonly see?: (
    resource: string,
    fact: FactOfAnswers,
    value: unknown,
    evidence?: { readonly answers: number },
  ) => void;
  readonly onRetry?: (error: ServiceError, tryNumber: number) => void;
  /** Called when the service asks for a pause, with its end in milliseconds since 1970. */
  readonly onWait?: (untilMs: number) => void;
}

type FactOfAnswers =
  | ('answer_ms' | 'answer_bytes' | 'compression' | 'etag' | 'negative_total' | 'numbers_as_text')
  | ('age_ms' | 'failures' | 'retry_after' | 'token_ms');

/** The first wait after a failed try, in milliseconds. Each further wait is twice as long, and up to as much again is added at random. */
const retryDelayMs = 250;
const retryDelayMsMax = 30_000;

/** The time for the one try of a list after the others were given up, in milliseconds. */
const lastTryMsMax = 5_000;

/** The service as a source of pages: one request for each page, repeated if that can help, at a pace that the service can handle. */
export class Service implements PageSource {
  readonly baseUrl: string;
  readonly query: string | null;
  readonly #client: HttpClient;
  readonly #options: ServiceOptions;
  readonly #clock = new AwakeClock();
  /** The token of the run, which can expire; asked for once for all requests. */
  #token: Promise<string> | undefined;
  readonly #worked = new Set<string>();
  /** Since when the token is accepted; null until it was. */
  #tokenSinceMs: number | null = null;
  readonly #limiter: RequestLimiter;
  readonly #breaker: CircuitBreaker;
  #retries = 0;

  constructor(options: ServiceOptions) {
    this.baseUrl = options.baseUrl;
    this.query = options.query ?? null;
    this.#options = options;
    this.#limiter = new RequestLimiter(options.concurrency, options.maxRequestsPerSecond ?? null);
    this.#breaker = new CircuitBreaker(options.giveUpAfterMs, this.#clock);
    this.#client = new HttpClient(options, this.#clock);
  }

  get traffic() {
    const { requests, bytes } = this.#client;
    return { requests, retries: this.#retries, bytes, waitedMs: this.#limiter.waitedMs };
  }

  get concurrency(): number {
    return this.#limiter.concurrency;
  }

  async getPage(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Page> {
    const patient = AbortSignal.any([signal, this.#breaker.givingUp.signal]);
    return pRetry(tryNumber => this.#try(list, request, patient, tryNumber), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: this.#options.retryDelayMs ?? retryDelayMs,
      maxTimeout: retryDelayMsMax,
      randomize: true,
      signal: patient,
      shouldRetry: ({ error, attemptNumber, retryDelay }) => {
        if (!(error instanceof ServiceError)) return false;
        this.#retries++;
        this.#limiter.waitedMs += retryDelay;
        this.#options.onRetry?.(error, attemptNumber);
        return true;
      },
    });
  }

  async close(): Promise<void> {
    this.#breaker.close();
    this.#clock.close();
    await this.#client.close();
  }

  /** Asks once. A ServiceError that is no AbortError of p-retry is followed by another try. */
  async #try(list: ListDefinition, request: PageRequest, signal: AbortSignal, tryNumber: number) {
    const breaker = this.#breaker;
    const { heldMs } = this.#limiter;
    if (breaker.error !== null && heldMs > Math.max(lastTryMsMax, breaker.leftMs(this.#clock.nowMs)))
      throw new AbortError(breaker.error);
    await this.#limiter.ready(signal);
    const begunAtMs = this.#clock.nowMs;
    let waitMs: number | null = null;
    try {
      const body = await this.#get(list, request, signal);
      waitMs = body.waitMs;
      const page = this.#read(body, list, request);
      this.#worked.add(list.resource);
      this.#tokenSinceMs ??= this.#clock.nowMs;
      this.#seeAnswer(list.resource, page, body);
      this.#limiter.noteAnswer();
      breaker.noteAnswer();
      // If it is longer, the next answer says so, or there is none.
      if (waitMs !== null && waitMs <= breaker.leftMs(begunAtMs)) this.#leaveAlone(waitMs);
      return page;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      waitMs ??= error.retryAfterMs;
      const { status, code, retryAfter } = error;
      this.#options.see?.(list.resource, 'failures', { [status ?? code]: 1 });
      this.#seeWait(list.resource, retryAfter, waitMs);
      if (['overloaded', 'timeout'].includes(error.code) || waitMs !== null) this.#limiter.noteOverload();
      const hasWorked = { list: this.#worked.has(list.resource), any: this.#worked.size > 0 };
      const seen = { ...hasWorked, leftMs: breaker.leftMs(begunAtMs) };
      const verdict = verdictOn(error, waitMs, seen, request, tryNumber);
      if (waitMs !== null) this.#leaveAlone(waitMs, verdict === 'left alone');
      if (verdict === 'again') {
        breaker.noteTrouble(error, begunAtMs);
        throw error;
      }
      const end = verdict === 'left alone' ? leftAloneError(error, waitMs ?? 0, Date.now()) : error;
      if (verdict === 'left alone' || verdict === 'given up') breaker.giveUp(end);
      end.isOfSize = verdict === 'smaller';
      throw new AbortError(end);
    }
  }

  #seeAnswer(resource: string, page: Page, { ms, received, isCompressed, hasEtag, ...body }: Body): void {
    const { see } = this.#options;
    const one = { answers: 1 };
    see?.(resource, 'answer_ms', [ms], one);
    see?.(resource, 'answer_bytes', [received], one);
    see?.(resource, 'compression', [isCompressed], one);
    see?.(resource, 'etag', [hasEtag], one);
    see?.(resource, 'negative_total', [page.isTotalNegative === true], one);
    see?.(resource, 'numbers_as_text', page.textNumbers, one);
    if (page.ageMs > 0) see?.(resource, 'age_ms', page.ageMs);
    this.#seeWait(resource, body.retryAfter, body.waitMs);
  }

  #seeWait(resource: string, form: RetryAfter, waitMs: number | null): void {
    if (form !== null) this.#options.see?.(resource, 'retry_after', { form, mostMs: waitMs ?? 0 });
  }

  #leaveAlone(waitMs: number, isEnd = false): void {
    this.#limiter.hold(waitMs);
    if (waitMs > 0 && !isEnd) this.#options.onWait?.(Date.now() + waitMs);
  }

  /** Gets a page's body. A token that was accepted might have expired: it is asked for again, by one of the requests. */
  async #get(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Body> {
    const asked = (['pageNo', 'pageSize'] as const).filter(name => request[name] !== null);
    const query = asked.map((name, at) => `${at === 0 ? '?' : '&'}${name}=${request[name]}`).join('');
    const headersNow = () => JSON.stringify(this.#options.headers?.() ?? null);
    const get = (token: string) => this.#client.get(list.path + query, token, signal, this.#timeoutMs);
    this.#token ??= this.#readToken();
    const reading = this.#token;
    const token = await reading;
    const headers = headersNow();
    try {
      return await get(token);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unauthorized') throw error;
      if (this.#token === reading && this.#worked.size > 0) {
        const acceptedMs = Math.round(this.#clock.nowMs - (this.#tokenSinceMs ?? this.#clock.nowMs));
        this.#options.see?.('service', 'token_ms', acceptedMs);
        this.#tokenSinceMs = null;
        this.#token = this.#readToken();
      }
      const next = await this.#token;
      if (next === token && headersNow() === headers) throw error;
      await this.#limiter.ready(signal);
      return get(next);
    }
  }

  async #readToken(): Promise<string> {
    try {
      const token = await this.#options.readToken();
      this.#options.secrets.add(token);
      return token;
    } catch (error) {
      if (codeOf(error) !== 'token_unavailable' || this.#worked.size === 0) throw error;
      // What prints the token worked in this run, so it is asked again, as the service is.
      this.#token = undefined;
      const message = error instanceof Error ? error.message : '';
      throw new ServiceError('token_unavailable', message, { retryable: true });
    }
  }

  /** The timeout of a request: no longer than the time left for a useful answer. */
  get #timeoutMs(): number {
    const { timeoutMs, giveUpAfterMs } = this.#options;
    if (giveUpAfterMs === 0) return timeoutMs;
    return Math.min(timeoutMs, giveUpAfterMs, this.#breaker.isOver ? lastTryMsMax : timeoutMs);
  }

  #read({ bytes, ageMs }: Body, list: ListDefinition, { readItems }: PageRequest): Page {
    const asked = `GET ${this.baseUrl}${list.path}`;
    const { secrets } = this.#options;
    const page = { ...readPage(bytes, asked, readItems, text => secrets.redact(text)), ageMs };
    // Nothing of a known item is stored or shown, so no secret needs to be looked for.
    if (!secrets.areIn(page.unknown)) return page;
    // Records without the secret would not be what the service lists.
    const message = `${asked} answered with records that contain the token itself. Nothing of that page was stored. The service must not send it back.`;
    throw new ServiceError('token_echoed', message, { retryable: false });
  }
}
