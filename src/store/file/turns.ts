import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long reading goes on before signals and timers get their turn, in milliseconds. */
const turnMs = 50;

/** Lets signals and timers have their turn in a long loop. */
export class Turns {
  readonly #signal: AbortSignal;
  #endsAtMs = Date.now() + turnMs;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return Date.now() > this.#endsAtMs;
  }

  /** Gives the turn away; throws where the signal was aborted meanwhile. */
  async next(): Promise<void> {
    await nextTurn();
    this.#signal.throwIfAborted();
    this.#endsAtMs = Date.now() + turnMs;
  }
}
