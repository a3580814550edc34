import pRetry from 'p-retry';
import type { ListDefinition } from '../contract/lists.ts';
import { type Page, PageError, readPage } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { PageRequest, PageSource, Traffic } from '../sync/ports.ts';
import { HttpClient } from './http-client.ts';
import { Pacer } from './pacer.ts';

export interface ServiceOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly timeoutMs: number;
  /** Tries after the first, per page. */
  readonly retries: number;
  readonly concurrency: number;
  readonly userAgent: string;
  /** The first wait after a failed try, in milliseconds; `retryDelayMs` where it is left out. */
  readonly retryDelayMs?: number;
  /** Told of each try that failed and will be made again. */
  readonly onRetry?: (error: ServiceError, tryNumber: number) => void;
}

/** The first wait after a failed try, doubled with each further one, with up to as much again at random; in milliseconds. */
const retryDelayMs = 250;
const retryDelayMsMax = 30_000;

/** The service as a source of pages: one request a page, tried again where that may help, at a pace that it bears. */
export class Service implements PageSource {
  readonly baseUrl: string;
  readonly #client: HttpClient;
  readonly #pacer: Pacer;
  readonly #options: ServiceOptions;
  #retries = 0;
  #backoffMs = 0;

  constructor(options: ServiceOptions) {
    this.baseUrl = options.baseUrl;
    this.#options = options;
    this.#pacer = new Pacer(options.concurrency);
    this.#client = new HttpClient({ ...options, connections: options.concurrency });
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
    const read = (bytes: Buffer) => readAnswer(bytes, `${this.baseUrl}${list.path}`, isKnown);
    return pRetry(() => this.#try(list, request, signal, read), {
      retries: this.#options.retries,
      minTimeout: this.#options.retryDelayMs ?? retryDelayMs,
      maxTimeout: retryDelayMsMax,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof ServiceError && error.retryable,
      onFailedAttempt: ({ error, attemptNumber, retriesLeft, retryDelay }) => {
        if (!(error instanceof ServiceError) || !error.retryable || retriesLeft === 0) return;
        this.#retries++;
        this.#backoffMs += retryDelay;
        this.#options.onRetry?.(error, attemptNumber);
      },
    });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #try(
    list: ListDefinition,
    request: PageRequest,
    signal: AbortSignal,
    read: (bytes: Buffer) => Page,
  ): Promise<Page> {
    await this.#pacer.ready(signal);
    try {
      const page = read(await this.#client.get(list.path, toQuery(request), signal));
      this.#pacer.noteAnswer();
      return page;
    } catch (error) {
      const isOverload =
        error instanceof ServiceError && (error.code === 'overloaded' || error.code === 'timeout');
      const retryAfter = error instanceof ServiceError && error.retryable ? error.retryAfterMs : null;
      if (isOverload || retryAfter !== null) this.#pacer.noteOverload(retryAfter);
      throw error;
    }
  }
}

function toQuery({ pageNo, pageSize }: PageRequest): Record<string, number> {
  return { ...(pageNo !== null && { pageNo }), ...(pageSize !== null && { pageSize }) };
}

function readAnswer(bytes: Buffer, address: string, isKnown?: (itemsDigest: string) => boolean): Page {
  try {
    return readPage(bytes, isKnown);
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    const message = `GET ${address} did not answer with a page: ${error.message}`;
    throw new ServiceError('invalid_response', message, { retryable: true, cause: error });
  }
}
