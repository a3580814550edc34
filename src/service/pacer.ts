import { setTimeout as wait } from 'node:timers/promises';

/** Good answers in a row, for each request in flight, before one more request is allowed. */
const answersPerRise = 8;

/**
 * Decides how many requests can be in flight for one service, and when the next can start. Trouble halves the number,
 * and good answers raise it again by one: additive increase, multiplicative decrease. A wait that the service asks for
 * delays all requests.
 */
export class Pacer {
  readonly #concurrencyMax: number;
  /** Between the starts of two requests, in milliseconds. */
  readonly #spacingMs: number;
  /** The earliest start of the next request, by `performance.now()`. */
  #nextAtMs = 0;
  /** Settled when every request that asked for a turn had it, or gave up. */
  #turns: Promise<void> = Promise.resolve();
  #concurrency: number;
  #goodAnswers = 0;
  /** By `performance.now()`, because the wall clock can be set meanwhile. */
  #heldUntilMs = 0;
  #waitedMs = 0;

  /** @param requestsPerSecondMax spaces requests evenly; null means no spacing. */
  constructor(concurrencyMax: number, requestsPerSecondMax: number | null = null) {
    this.#spacingMs = requestsPerSecondMax === null ? 0 : 1_000 / requestsPerSecondMax;
    this.#concurrencyMax = concurrencyMax;
    this.#concurrency = concurrencyMax;
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  /** How long requests were delayed in all, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** For how long the service wants no request, in milliseconds; 0 or less if it accepts them. */
  get heldMs(): number {
    return this.#heldUntilMs - performance.now();
  }

  /** Waits until a request can start. */
  async ready(signal: AbortSignal): Promise<void> {
    do {
      await this.#released(signal);
      await this.#turn(signal);
    } while (this.heldMs > 0);
  }

  /** Waits for the next turn. Turns are one after the other, each counted from the actual start of the one before. */
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

  /** Notes that the service refused a request because of too much load. */
  noteOverload(retryAfterMs: number | null): void {
    this.#goodAnswers = 0;
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
    if (retryAfterMs !== null)
      this.#heldUntilMs = Math.max(this.#heldUntilMs, performance.now() + retryAfterMs);
  }
}
