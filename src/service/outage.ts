import { ServiceError } from '../errors.ts';

/**
 * Measures, by the monotonic clock and over all lists of a run, how long the service has given no useful answer. When
 * that is too long, requests that are under way end, and no request is tried twice until the service answers again.
 */
export class Outage {
  readonly #giveUpAfterMs: number;
  #beganAtMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #error: ServiceError | null = null;
  #givingUp = new AbortController();
  #isOver = false;

  /** @param giveUpAfterMs how long requests are repeated, in milliseconds; 0 means one try. */
  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  /** True once it has lasted too long; false again with the first useful answer. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborted when the outage has lasted too long, with the last error in words that say so. */
  get signal(): AbortSignal {
    return this.#givingUp.signal;
  }

  /** The last error. */
  get error(): ServiceError | null {
    return this.#error;
  }

  /** Notes a request without a useful answer and when it began, by `performance.now()`. */
  noteTrouble(error: ServiceError, begunAtMs: number): void {
    this.#error = error;
    if (this.#isOver) return;
    this.#beganAtMs ??= begunAtMs;
    const leftMs = this.#beganAtMs + this.#giveUpAfterMs - performance.now();
    if (leftMs <= 0) this.#giveUp();
    else this.#timer ??= setTimeout(() => this.#giveUp(), leftMs);
  }

  noteAnswer(): void {
    this.close();
    this.#beganAtMs = null;
    this.#isOver = false;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #giveUp(): void {
    this.close();
    this.#isOver = true;
    const givingUp = this.#givingUp;
    // Requests from now on are tried once.
    this.#givingUp = new AbortController();
    givingUp.abort(this.#giveUpAfterMs === 0 ? this.#error : inWords(this.#error as ServiceError));
  }
}

function inWords({ code, message, retryAfterMs, isBare }: ServiceError): ServiceError {
  const words = `${message}; it was tried again until DOCMIRROR_GIVE_UP_AFTER was over`;
  return new ServiceError(code, words, { retryable: false, retryAfterMs, isBare });
}
