import { HttpError } from './http-error.ts';

/** How many requests work at once, and how many wait for their turn. Further ones are refused. */
const bounds = { atOnceMax: 4, waitingMax: 60 };

/** Limits how many requests search the mirror at once, so that memory stays within bounds. */
export class Turns {
  #going = 0;
  readonly #waiting: (() => void)[] = [];

  /**
   * Waits for a turn. Dispose the result to give the turn back.
   *
   * @throws HttpError with status 429 if too many wait.
   */
  async take(): Promise<Disposable> {
    if (this.#going >= bounds.atOnceMax) {
      if (this.#waiting.length >= bounds.waitingMax)
        throw new HttpError(429, 'Too many requests at once. Try again in a moment.', { 'retry-after': '1' });
      await new Promise<void>(resolve => this.#waiting.push(resolve));
    } else this.#going++;
    return { [Symbol.dispose]: () => this.#giveBack() };
  }

  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#going--;
    else next();
  }
}
