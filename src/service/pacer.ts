import { setTimeout as wait } from 'node:timers/promises';

/** Answers in a row without trouble, per request in flight, before one more may be in flight. */
const answersPerRise = 8;

/**
 * How many requests may be in flight, and when the next may start, for one service. Trouble halves the number, good answers
 * raise it again by one: additive increase, multiplicative decrease. A wait that the service asks for holds all requests.
 */
export class Pacer {
  readonly #concurrencyMax: number;
  /** Between the starts of two requests, in milliseconds. */
  readonly #spacingMs: number;
  /** When the next request may start, by `performance.now()`. */
  #nextAtMs = 0;
  /** Settled when all that asked for a turn had it, or gave up. */
  #turns: Promise<void> = Promise.resolve();
  #concurrency: number;
  #goodAnswers = 0;
  /** By `performance.now()`, for the wall clock may be set meanwhile. */
  #heldUntilMs = 0;
  #waitedMs = 0;

  /** @param requestsPerSecondMax spaces requests out evenly; null does not. */
  constructor(concurrencyMax: number, requestsPerSecondMax: number | null = null) {
    this.#spacingMs = requestsPerSecondMax === null ? 0 : 1_000 / requestsPerSecondMax;
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

  /** True while the service wants no request at all. */
  get isHeld(): boolean {
    return performance.now() < this.#heldUntilMs;
  }

  /** Waits until a request may start. */
  async ready(signal: AbortSignal): Promise<void> {
    do {
      await this.#released(signal);
      await this.#turn(signal);
    } while (this.isHeld);
  }

  /** Waits until the next request may start by the pace: one after the other, each counted from when the one before it did start. */
  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#spacingMs === 0) return;
    const mine = this.#turns.then(async () => {
      signal.throwIfAborted();
      const waitMs = this.#nextAtMs - performance.now();
      if (waitMs > 0) await wait(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      this.#nextAtMs = performance.now() + this.#spacingMs;
    });
    this.#turns = mine.catch(() => undefined);
    await mine;
  }

  async #released(signal: AbortSignal): Promise<void> {
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
