/**
 * Goes through every way in which something can happen. The player asks `next` each time it could go on in several ways. Played again
 * after `advance`, it goes on in another one, until all were played.
 */
export class Choices {
  readonly #taken: number[] = [];
  readonly #counts: number[] = [];
  #at = 0;

  /** One of so many ways, from 0. */
  next(count: number): number {
    if (this.#at === this.#taken.length) {
      this.#taken.push(0);
      this.#counts.push(count);
    }
    return this.#taken[this.#at++] as number;
  }

  /** Turns to the next way; false if there is none left. */
  advance(): boolean {
    this.#at = 0;
    for (let last = this.#taken.length - 1; last >= 0; last--) {
      const turned = (this.#taken[last] as number) + 1;
      if (turned < (this.#counts[last] as number)) {
        this.#taken[last] = turned;
        this.#taken.length = last + 1;
        this.#counts.length = last + 1;
        return true;
      }
    }
    return false;
  }
}
