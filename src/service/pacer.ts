import { setTimeout as wait } from 'node:timers/promises';

/** Answers in a row without trouble, per request in flight, before one more may be in flight. */
const answersPerRise = 8;

/**
 * How many requests may be in flight, and when the next may start, for one service. Trouble halves the number, good answers
 * raise it again by one: additive increase, multiplicative decrease. A wait that the service asks for holds all requests.
 */
export class Pacer {
  readonly #concurrencyMax: number;
  #concurrency: number;
  #goodAnswers = 0;
  /** By `performance.now()`, for the wall clock may be set meanwhile. */
  #heldUntilMs = 0;
  #waitedMs = 0;

  constructor(concurrencyMax: number) {
    this.#concurrencyMax = concurrencyMax;
    this.#concurrency = concurrencyMax;
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  /** Time that requests were held back in all, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Waits until requests may start. */
  async ready(signal: AbortSignal): Promise<void> {
    for (let now = performance.now(); now < this.#heldUntilMs; now = performance.now()) {
      await wait(this.#heldUntilMs - now, undefined, { signal }).catch(() => signal.throwIfAborted());
      this.#waitedMs += Math.round(performance.now() - now);
    }
  }

  noteAnswer(): void {
    this.#goodAnswers++;
    if (this.#goodAnswers < answersPerRise * this.#concurrency) return;
    this.#goodAnswers = 0;
    this.#concurrency = Math.min(this.#concurrency + 1, this.#concurrencyMax);
  }

  /** The service said that it is too much. */
  noteOverload(retryAfterMs: number | null): void {
    this.#goodAnswers = 0;
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
    if (retryAfterMs !== null)
      this.#heldUntilMs = Math.max(this.#heldUntilMs, performance.now() + retryAfterMs);
  }
}
