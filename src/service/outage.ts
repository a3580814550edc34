import { ServiceError } from '../errors.ts';

/**
 * Follows how long the service has answered nothing useful, over all lists of a run, by the monotonic clock. When that is too long, it is
 * over: what is under way ends, and nothing is tried a second time until the service answers again.
 */
export class Outage {
  readonly #giveUpAfterMs: number;
  #beganAtMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #error: ServiceError | null = null;
  #givingUp = new AbortController();
  #isOver = false;

  /** @param giveUpAfterMs how long tries go on, in milliseconds; 0 makes one try alone. */
  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  /** True once it has lasted too long; false again with the first useful answer. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborted with the last error, in words that say so, when it has lasted too long. */
  get signal(): AbortSignal {
    return this.#givingUp.signal;
  }

  /** The last error. */
  get error(): ServiceError | null {
    return this.#error;
  }

  /** The service answered nothing useful to a request that was begun then, by `performance.now()`. */
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
    // What is asked for from now on is tried once.
    this.#givingUp = new AbortController();
    givingUp.abort(this.#giveUpAfterMs === 0 ? this.#error : inWords(this.#error as ServiceError));
  }
}

function inWords({ code, message, retryAfterMs, isBare }: ServiceError): ServiceError {
  const words = `${message}; it was tried again until DOCMIRROR_GIVE_UP_AFTER was over`;
  return new ServiceError(code, words, { retryable: false, retryAfterMs, isBare });
}
