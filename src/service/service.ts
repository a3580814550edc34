import pRetry from 'p-retry';
import type { ListDefinition } from '../contract/lists.ts';
import type { Page, PageRequest, PageSource } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import { type Body, HttpClient, type HttpOptions } from './http-client.ts';
import { Pacer } from './pacer.ts';
import { readPage } from './page.ts';

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
  /** Called for each failed try that will be repeated. */
  readonly onRetry?: (error: ServiceError, tryNumber: number) => void;
  /** Called when the service asks for a pause, with its end in milliseconds since 1970. */
  readonly onWait?: (untilMs: number) => void;
}

/**
 * The first wait after a failed try, in milliseconds. Each further wait is twice as long, and up to as much again is
 * added at random.
 */
const retryDelayMs = 250;
const retryDelayMsMax = 30_000;

/** The time for the one try of a list after the others were given up, in milliseconds. */
const lastTryMsMax = 5_000;

/**
 * The service as a source of pages: one request for each page, repeated if that can help, at a pace that the service
 * can handle.
 */
export class Service implements PageSource {
  readonly baseUrl: string;
  readonly #client: HttpClient;
  readonly #options: ServiceOptions;
  /** The token of the run, which can expire; asked for once for all requests. */
  #token: Promise<string> | undefined;
  /** The one that a request used last with success. */
  #accepted: string | null = null;
  readonly #pacer: Pacer;
  readonly #outage: Outage;
  #retries = 0;

  constructor(options: ServiceOptions) {
    this.baseUrl = options.baseUrl;
    this.#options = options;
    this.#pacer = new Pacer(options.concurrency, options.maxRequestsPerSecond ?? null);
    this.#outage = new Outage(options.giveUpAfterMs);
    this.#client = new HttpClient(options);
  }

  get traffic() {
    const { requests, bytes } = this.#client;
    return { requests, retries: this.#retries, bytes, waitedMs: this.#pacer.waitedMs };
  }

  get concurrency(): number {
    return this.#pacer.concurrency;
  }

  async getPage(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Page> {
    const outage = this.#outage;
    const patient = AbortSignal.any([signal, outage.givingUp.signal]);
    return pRetry(() => this.#try(list, request, patient), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: this.#options.retryDelayMs ?? retryDelayMs,
      maxTimeout: retryDelayMsMax,
      randomize: true,
      signal: patient,
      shouldRetry: ({ error, attemptNumber, retryDelay }) => {
        if (outage.isOver || !mayPass(error, request, attemptNumber)) return false;
        this.#retries++;
        this.#pacer.waitedMs += retryDelay;
        this.#options.onRetry?.(error, attemptNumber);
        return true;
      },
    });
  }

  async close(): Promise<void> {
    this.#outage.close();
    await this.#client.close();
  }

  async #try(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Page> {
    const { isOver, error: lastError } = this.#outage;
    if (isOver && lastError !== null && this.#pacer.heldMs > lastTryMsMax) throw lastError;
    await this.#pacer.ready(signal);
    const begunAtMs = performance.now();
    try {
      const page = this.#read(await this.#get(list, request, signal), list, request);
      this.#pacer.noteAnswer();
      this.#outage.noteAnswer();
      return page;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const retryAfter = error.retryable ? error.retryAfterMs : null;
      if (error.code === 'overloaded' || error.code === 'timeout' || retryAfter !== null)
        this.#pacer.noteOverload(retryAfter);
      if (retryAfter !== null) this.#options.onWait?.(Date.now() + retryAfter);
      if (error.retryable) this.#outage.noteTrouble(error, begunAtMs);
      throw error;
    }
  }

  /** Gets a page's body. If the token was accepted before, it might have expired: it is asked for again. */
  async #get(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Body> {
    const get = async (token: string) => {
      const body = await this.#client.get(list.path + toQuery(request), token, signal, this.#timeoutMs);
      this.#accepted = token;
      return body;
    };
    this.#token ??= this.#readToken();
    const token = await this.#token;
    try {
      return await get(token);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unauthorized') throw error;
      if (this.#accepted === token && (await this.#token) === token) {
        this.#accepted = null;
        this.#token = this.#readToken();
      }
      const next = await this.#token;
      if (next === token) throw error;
      await this.#pacer.ready(signal);
      return get(next);
    }
  }

  async #readToken(): Promise<string> {
    const token = await this.#options.readToken();
    this.#options.secrets.add(token);
    return token;
  }

  /** The timeout of a request: no longer than the time left for a useful answer. */
  get #timeoutMs(): number {
    const { timeoutMs, giveUpAfterMs } = this.#options;
    if (giveUpAfterMs === 0) return timeoutMs;
    return Math.min(timeoutMs, giveUpAfterMs, this.#outage.isOver ? lastTryMsMax : timeoutMs);
  }

  #read({ bytes, ageMs }: Body, list: ListDefinition, { isKnown }: PageRequest): Page {
    const asked = `GET ${this.baseUrl}${list.path}`;
    const page = { ...readPage(bytes, asked, isKnown), ageMs };
    // Nothing of a known page is stored or shown, so no secret needs to be looked for.
    if (page.items === null || !this.#options.secrets.areIn(page.bytes)) return page;
    // Records without the secret would not be what the service lists.
    const message = `${asked} answered with records that contain the token itself. Nothing of that page was stored. The service must not send it back.`;
    throw new ServiceError('token_echoed', message, { retryable: false });
  }
}

/**
 * Whether another try can bring the page. Past the end, an answer without items is believed when it comes a second
 * time.
 */
function mayPass(
  error: unknown,
  { isBeyond = false, triesMax = Number.POSITIVE_INFINITY }: PageRequest,
  tryNumber: number,
): error is ServiceError {
  if (!(error instanceof ServiceError) || !error.retryable || tryNumber >= error.triesMax) return false;
  if (error.code === 'server_error' && tryNumber >= triesMax) return false;
  return !(error.isBare && isBeyond && tryNumber > 1);
}

function toQuery({ pageNo, pageSize }: PageRequest): string {
  const asked = Object.entries({ pageNo, pageSize }).filter(([, value]) => value !== null);
  return asked.length === 0 ? '' : `?${asked.map(parameter => parameter.join('=')).join('&')}`;
}

/**
 * Measures, over all lists of a run, how long the service has given no useful answer. When that is too long, requests
 * that are under way end, and no request is tried twice until the service answers again.
 */
class Outage {
  readonly #giveUpAfterMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** Aborted when it has lasted too long, with the last error in words that say so. */
  givingUp = new AbortController();
  error: ServiceError | null = null;
  /** True once it has lasted too long; false again with the first useful answer. */
  isOver = false;

  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  /** Notes a request without a useful answer and when it began, by `performance.now()`. */
  noteTrouble(error: ServiceError, begunAtMs: number): void {
    this.error = error;
    if (this.isOver || this.#timer !== undefined) return;
    const leftMs = begunAtMs + this.#giveUpAfterMs - performance.now();
    if (leftMs <= 0) this.#giveUp(error);
    else this.#timer = setTimeout(() => this.#giveUp(this.error ?? error), leftMs);
  }

  noteAnswer(): void {
    this.close();
    this.isOver = false;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #giveUp(error: ServiceError): void {
    this.close();
    this.isOver = true;
    const { givingUp } = this;
    // Requests from now on are tried once.
    this.givingUp = new AbortController();
    const words = `${error.message}; it was tried again until DOCMIRROR_GIVE_UP_AFTER was over`;
    const isOnlyTry = this.#giveUpAfterMs === 0;
    givingUp.abort(isOnlyTry ? error : new ServiceError(error.code, words, { retryable: false }));
  }
}
