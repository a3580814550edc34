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
