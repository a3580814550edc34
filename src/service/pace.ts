// When a request can be made, and for how long it is repeated: a limiter, a breaker, and the clock by which they count.

import { setTimeout as wait } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';

/** Good answers in a row, for each request in flight, before one more request is allowed. */
const answersPerRise = 8;

/** Limits how many requests can be in flight, and when the next can start. Overload halves their number, good answers raise it by one. */
export class RequestLimiter {
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

/** Measures how long no list of a run got a useful answer. If that is too long, requests end, and none is tried twice until one comes. */
export class CircuitBreaker {
  readonly #giveUpAfterMs: number;
  readonly #clock: AwakeClock;
  #sinceMs: number | null = null;
  #stopTimer: () => void = () => undefined;
  /** Aborted when it has lasted too long, with the last error. */
  givingUp = new AbortController();
  error: ServiceError | null = null;
  /** True once it has lasted too long; false again with the first useful answer. */
  isOver = false;

  constructor(giveUpAfterMs: number, clock: AwakeClock) {
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#clock = clock;
  }

  /** How much longer requests are repeated, in milliseconds, if one that began then, by the clock, got no useful answer. */
  leftMs(begunAtMs: number): number {
    return this.isOver ? 0 : (this.#sinceMs ?? begunAtMs) + this.#giveUpAfterMs - this.#clock.nowMs;
  }

  /** Notes a request without a useful answer, which will be repeated, and when it began. */
  noteTrouble(error: ServiceError, begunAtMs: number): void {
    this.error = error;
    if (this.#sinceMs !== null) return;
    this.#sinceMs = begunAtMs;
    this.#stopTimer = this.#clock.after(this.leftMs(begunAtMs), () => {
      const { code, message, ofAnyList } = this.error ?? error;
      const words = `${message}; it was tried again until DOCMIRROR_GIVE_UP_AFTER was over`;
      this.giveUp(new ServiceError(code, words, { retryable: false, ofAnyList }));
    });
  }

  noteAnswer(): void {
    this.close();
    this.isOver = false;
  }

  close(): void {
    this.#stopTimer();
    this.#sinceMs = null;
  }

  /** Ends the requests that are under way with this error. Requests from now on are tried once. */
  giveUp(error: ServiceError): void {
    this.close();
    this.error = error;
    if (this.isOver) return;
    this.isOver = true;
    const { givingUp } = this;
    this.givingUp = new AbortController();
    givingUp.abort(error);
  }
}

/** How often the clock is looked at, and the most that counts between two looks, in milliseconds. */
const tickMs = 250;
const gapMsMax = 1_000;

/** A clock that counts only time in which this process ran: after a stop (SIGSTOP, a frozen container) it goes on where it was. */
export class AwakeClock {
  readonly #ticking = setInterval(() => this.nowMs, tickMs).unref();
  #lookedAtMs = performance.now();
  #countedMs = 0;

  /** Milliseconds since the clock was made. */
  get nowMs(): number {
    const now = performance.now();
    this.#countedMs += Math.min(now - this.#lookedAtMs, gapMsMax);
    this.#lookedAtMs = now;
    return this.#countedMs;
  }

  /** Calls `then` after so many of its milliseconds. It returns what ends the waiting. */
  after(ms: number, then: () => void): () => void {
    const dueMs = this.nowMs + ms;
    const look = () => {
      const leftMs = dueMs - this.nowMs;
      if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs));
      else then();
    };
    let timer = setTimeout(look, Math.ceil(ms));
    return () => clearTimeout(timer);
  }

  close(): void {
    clearInterval(this.#ticking);
  }
}
