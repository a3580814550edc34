import pRetry from 'p-retry';
import type { ListDefinition } from '../contract/lists.ts';
import { type Page, PageError, readPage } from '../contract/page.ts';
import type { PageRequest, PageSource, Traffic } from '../contract/run.ts';
import { ServiceError } from '../errors.ts';
import { AccessToken } from './access-token.ts';
import type { ConnectionOptions } from './connection.ts';
import { HttpClient } from './http-client.ts';
import { Outage } from './outage.ts';
import { Pacer } from './pacer.ts';
import { Secrets } from './secrets.ts';

/** How to reach the service, and how long to keep trying. */
export interface ServiceOptions extends Omit<ConnectionOptions, 'connections'> {
  readonly token: string;
  /** The source of the token, in words that complete "the token came from". */
  readonly tokenFrom?: string;
  /** Gets a new token from its source when it has expired; left out if it can't change. */
  readonly renewToken?: () => Promise<string>;
  /** Texts that must never be stored or shown; the token is added to them. */
  readonly secrets?: Secrets;
  /** How long requests are repeated while no list gets a useful answer, in milliseconds. */
  readonly giveUpAfterMs: number;
  /** Spaces requests evenly; left out or null: no spacing. */
  readonly maxRequestsPerSecond?: number | null;
  readonly concurrency: number;
  readonly userAgent: string;
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

/** How often a page is asked for that comes in a wrong form, and one whose answer says of itself that it failed or is partial. */
const formTriesMax = 3;
const faultTriesMax = 6;

/** The time for the one try of a list after the others were given up, in milliseconds. */
const lastTryMsMax = 5_000;

/**
 * The service as a source of pages: one request for each page, repeated if that can help, at a pace that the service
 * can handle.
 */
export class Service implements PageSource {
  readonly baseUrl: string;
  readonly #client: HttpClient;
  readonly #secrets: Secrets;
  readonly #token: AccessToken;
  readonly #pacer: Pacer;
  readonly #outage: Outage;
  readonly #options: ServiceOptions;
  #retries = 0;
  #backoffMs = 0;

  constructor(options: ServiceOptions) {
    this.baseUrl = options.baseUrl;
    this.#options = options;
    this.#pacer = new Pacer(options.concurrency, options.maxRequestsPerSecond ?? null);
    this.#outage = new Outage(options.giveUpAfterMs);
    this.#secrets = options.secrets ?? new Secrets();
    this.#secrets.add(options.token);
    this.#token = new AccessToken(options.token, options.renewToken);
    this.#client = new HttpClient({ ...options, secrets: this.#secrets, connections: options.concurrency });
  }

  get traffic(): Traffic {
    return {
      requests: this.#client.requests,
      retries: this.#retries,
      bytes: this.#client.bytes,
      waitedMs: this.#pacer.waitedMs + this.#backoffMs,
    };
  }

  get concurrency(): number {
    return this.#pacer.concurrency;
  }

  async getPage(
    list: ListDefinition,
    request: PageRequest,
    signal: AbortSignal,
    isKnown?: (itemsDigest: string) => boolean,
  ): Promise<Page> {
    const read = (bytes: Buffer) => this.#read(bytes, list, isKnown);
    const outage = this.#outage;
    const patient = AbortSignal.any([signal, outage.signal]);
    return pRetry(() => this.#try(list, request, patient, read), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: this.#options.retryDelayMs ?? retryDelayMs,
      maxTimeout: retryDelayMsMax,
      randomize: true,
      signal: patient,
      shouldRetry: ({ error, attemptNumber }) => !outage.isOver && mayPass(error, request, attemptNumber),
      onFailedAttempt: ({ error, attemptNumber, retryDelay }) => {
        if (!mayPass(error, request, attemptNumber) || outage.isOver) return;
        this.#retries++;
        this.#backoffMs += retryDelay;
        this.#options.onRetry?.(error, attemptNumber);
      },
    });
  }

  async close(): Promise<void> {
    this.#outage.close();
    await this.#client.close();
  }

  async #try(
    list: ListDefinition,
    request: PageRequest,
    signal: AbortSignal,
    read: (bytes: Buffer) => Page,
  ): Promise<Page> {
    const { isOver, error: lastError } = this.#outage;
    if (isOver && lastError !== null && this.#pacer.heldMs > lastTryMsMax) throw lastError;
    await this.#pacer.ready(signal);
    const begunAtMs = performance.now();
    try {
      const page = read(await this.#get(list, request, signal));
      this.#pacer.noteAnswer();
      this.#outage.noteAnswer();
      return page;
    } catch (error) {
      const isOverload =
        error instanceof ServiceError && (error.code === 'overloaded' || error.code === 'timeout');
      const retryAfter = error instanceof ServiceError && error.retryable ? error.retryAfterMs : null;
      if (isOverload || retryAfter !== null) this.#pacer.noteOverload(retryAfter);
      if (retryAfter !== null) this.#options.onWait?.(Date.now() + retryAfter);
      if (error instanceof ServiceError && error.retryable) this.#outage.noteTrouble(error, begunAtMs);
      throw error;
    }
  }

  /** Gets a page's bytes. If the token has expired, it tries again with the new one. */
  async #get(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Buffer> {
    const get = async (token: string) => {
      const bytes = await this.#client.get(list.path + toQuery(request), token, signal, this.#timeoutMs);
      this.#token.noteAccepted(token);
      return bytes;
    };
    const token = this.#token.text;
    try {
      return await get(token);
    } catch (error) {
      const isRefused = error instanceof ServiceError && error.code === 'unauthorized';
      if (!isRefused || !(await this.#token.changedSince(token))) throw error;
    }
    this.#secrets.add(this.#token.text);
    await this.#pacer.ready(signal);
    return get(this.#token.text);
  }

  /** The timeout of a request: no longer than the time left for a useful answer. */
  get #timeoutMs(): number {
    const { timeoutMs, giveUpAfterMs } = this.#options;
    if (giveUpAfterMs === 0) return timeoutMs;
    const givenMs = Math.min(timeoutMs, giveUpAfterMs);
    return this.#outage.isOver ? Math.min(givenMs, lastTryMsMax) : givenMs;
  }

  #read(bytes: Buffer, list: ListDefinition, isKnown?: (itemsDigest: string) => boolean): Page {
    const page = this.#pageIn(bytes, list, isKnown);
    // Nothing of a known page is stored or shown, so no secret needs to be looked for.
    if (page.content === null || !this.#secrets.areIn(page.items)) return page;
    // Records without the secret would not be what the service lists.
    const message = `GET ${this.baseUrl}${list.path} answered with records that contain the token itself. Nothing of that page was stored. The service must not send it back.`;
    throw new ServiceError('token_echoed', message, { retryable: false });
  }

  #pageIn(bytes: Buffer, list: ListDefinition, isKnown?: (itemsDigest: string) => boolean): Page {
    try {
      return readPage(bytes, isKnown);
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      const message = `GET ${this.baseUrl}${list.path} did not answer with a page: ${error.message}`;
      const { isBare } = error;
      throw new ServiceError('invalid_response', message, { retryable: true, isBare, cause: error });
    }
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
  if (!(error instanceof ServiceError) || !error.retryable) return false;
  if (error.code === 'server_error' && tryNumber >= triesMax) return false;
  if (error.code === 'invalid_response' && tryNumber >= triesOf(error.cause)) return false;
  return !(error.isBare && isBeyond && tryNumber > 1);
}

function triesOf(cause: unknown): number {
  return cause instanceof PageError && cause.isFault ? faultTriesMax : formTriesMax;
}

function toQuery({ pageNo, pageSize }: PageRequest): string {
  const asked = Object.entries({ pageNo, pageSize }).filter(([, value]) => value !== null);
  return asked.length === 0 ? '' : `?${asked.map(parameter => parameter.join('=')).join('&')}`;
}
