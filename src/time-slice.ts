import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceMs = 50;

/** The time that a long loop can take before signals and timers get their turn. */
export class TimeSlice {
  readonly #signal: AbortSignal | null;
  #endsAtMs = performance.now() + sliceMs;

  /** @param signal ends the loop; null if nothing does. */
  constructor(signal: AbortSignal | null) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() > this.#endsAtMs;
  }

  /** Lets others have their turn and begins the next slice; throws if the signal was aborted meanwhile. */
  async next(): Promise<void> {
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#endsAtMs = performance.now() + sliceMs;
  }
}
