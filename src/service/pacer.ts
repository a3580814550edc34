import { setTimeout as wait } from 'node:timers/promises';

/** Good answers in a row, for each request in flight, before one more request is allowed. */
const answersPerRise = 8;

/** Decides how many requests can be in flight, and when the next can start. Overload halves their number, good answers raise it by one. */
export class Pacer {
  /** Between the starts of two requests. */
  readonly #spacingMs: number;
  // By `performance.now()`, because the wall clock can be set meanwhile.
  #nextAtMs = 0;
  #heldUntilMs = 0;
  readonly #concurrencyMax: number;
  #goodAnswers = 0;
  concurrency: number;
  /** How long requests were delayed in all, in milliseconds. */
  waitedMs = 0;

  /** @param requestsPerSecondMax spaces requests evenly; null means no spacing. */
  constructor(concurrency: number, requestsPerSecondMax: number | null = null) {
    this.#spacingMs = requestsPerSecondMax === null ? 0 : 1_000 / requestsPerSecondMax;
    this.#concurrencyMax = concurrency;
    this.concurrency = concurrency;
  }

  /** For how long the service wants no request, in milliseconds; 0 or less if it accepts them. */
  get heldMs(): number {
    return this.#heldUntilMs - performance.now();
  }

  async ready(signal: AbortSignal): Promise<void> {
    for (;;) {
      const { heldMs } = this;
      const turnMs = this.#nextAtMs - performance.now();
      if (heldMs <= 0 && turnMs <= 0) break;
      await wait(Math.max(heldMs, turnMs), undefined, { signal }).catch(() => signal.throwIfAborted());
      this.waitedMs += Math.round(Math.max(0, heldMs));
    }
    // The next request counts from the actual start of this one.
    this.#nextAtMs = performance.now() + this.#spacingMs;
  }

  noteAnswer(): void {
    if (++this.#goodAnswers < answersPerRise * this.concurrency) return;
    this.#goodAnswers = 0;
    this.concurrency = Math.min(this.concurrency + 1, this.#concurrencyMax);
  }

  noteOverload(): void {
    this.#goodAnswers = 0;
    this.concurrency = Math.max(1, Math.floor(this.concurrency / 2));
  }

  /** Delays all requests, because the service wants to be left alone for so many milliseconds. */
  hold(ms: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, performance.now() + ms);
  }
}
