import { setTimeout as wait } from 'node:timers/promises';

/** Good answers in a row, for each request in flight, before one more request is allowed. */
const answersPerRise = 8;

/**
 * Decides how many requests can be in flight for one service, and when the next can start. Overload halves the number,
 * and good answers raise it again by one. A wait that the service asks for delays all requests.
 */
export class Pacer {
  readonly #concurrencyMax: number;
  /** Between the starts of two requests, in milliseconds. */
  readonly #spacingMs: number;
  /** The earliest start of the next request, by `performance.now()`. */
  #nextAtMs = 0;
  /** Settled when every request that asked for a turn had it, or gave up. */
  #turns: Promise<void> = Promise.resolve();
  #goodAnswers = 0;
  /** By `performance.now()`, because the wall clock can be set meanwhile. */
  #heldUntilMs = 0;
  /** How many requests can be in flight. */
  concurrency: number;
  /** How long requests were delayed in all, in milliseconds. */
  waitedMs = 0;

  /** @param requestsPerSecondMax spaces requests evenly; null means no spacing. */
  constructor(concurrencyMax: number, requestsPerSecondMax: number | null = null) {
    this.#spacingMs = requestsPerSecondMax === null ? 0 : 1_000 / requestsPerSecondMax;
    this.#concurrencyMax = concurrencyMax;
    this.concurrency = concurrencyMax;
  }

  /** For how long the service wants no request, in milliseconds; 0 or less if it accepts them. */
  get heldMs(): number {
    return this.#heldUntilMs - performance.now();
  }

  /** Waits until a request can start. */
  async ready(signal: AbortSignal): Promise<void> {
    do {
      for (let heldMs = this.heldMs; heldMs > 0; heldMs = this.heldMs) {
        await waitUnless(signal, heldMs);
        this.waitedMs += Math.round(heldMs);
      }
      if (this.#spacingMs > 0) await this.#turn(signal);
    } while (this.heldMs > 0);
  }

  /** Waits for the next turn. Turns are one after the other, each counted from the actual start of the one before. */
  async #turn(signal: AbortSignal): Promise<void> {
    const mine = this.#turns.then(async () => {
      signal.throwIfAborted();
      const waitMs = this.#nextAtMs - performance.now();
      if (waitMs > 0) await waitUnless(signal, waitMs);
      this.#nextAtMs = performance.now() + this.#spacingMs;
    });
    this.#turns = mine.catch(() => undefined);
    await mine;
  }

  noteAnswer(): void {
    if (++this.#goodAnswers < answersPerRise * this.concurrency) return;
    this.#goodAnswers = 0;
    this.concurrency = Math.min(this.concurrency + 1, this.#concurrencyMax);
  }

  /** Notes that the service refused a request because of too much load. */
  noteOverload(retryAfterMs: number | null): void {
    this.#goodAnswers = 0;
    this.concurrency = Math.max(1, Math.floor(this.concurrency / 2));
    this.#heldUntilMs = Math.max(this.#heldUntilMs, performance.now() + (retryAfterMs ?? 0));
  }
}

async function waitUnless(signal: AbortSignal, ms: number): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** The longest wait that docmirror grants a service, in milliseconds. */
export const retryAfterMsMax = 5 * 60 * 1000;

/**
 * The wait in a `Retry-After` header, in milliseconds, at most `retryAfterMsMax`; null if it is not usable. Source: RFC
 * 9110 §10.2.3, seconds or an HTTP date, whose oldest form names no zone and means GMT (§5.6.7).
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  let ms = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(text)) ms = Number(text) * 1000;
  // `Date.parse` also makes a date from a plain number like -5.
  else if (text.includes(':'))
    ms = Date.parse(/(?:[A-Z]|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.ceil(ms)), retryAfterMsMax);
}
