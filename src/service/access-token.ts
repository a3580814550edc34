/**
 * The token of one run, which may expire while the run goes on. A token that was accepted and is refused now is asked for anew,
 * once until it is accepted again, however many requests were refused with it.
 */
export class AccessToken {
  #text: string;
  /** Since it was asked for last. */
  #wasAccepted = false;
  #renewal: Promise<boolean> | undefined;
  readonly #askAgain: (() => Promise<string>) | undefined;

  /** @param askAgain asks for the token where it comes from; left out where it can't change. */
  constructor(text: string, askAgain: (() => Promise<string>) | undefined) {
    this.#text = text;
    this.#askAgain = askAgain;
  }

  get text(): string {
    return this.#text;
  }

  noteAccepted(text: string): void {
    if (text === this.#text) this.#wasAccepted = true;
  }

  /**
   * Finds out whether another token may be tried after this one was refused.
   *
   * @throws what asking for the token throws.
   */
  async changedSince(refused: string): Promise<boolean> {
    if (this.#renewal === undefined) {
      if (refused !== this.#text) return true;
      if (!this.#wasAccepted || this.#askAgain === undefined) return false;
      this.#renewal = this.#renew(this.#askAgain).finally(() => {
        this.#renewal = undefined;
      });
    }
    return this.#renewal;
  }

  async #renew(askAgain: () => Promise<string>): Promise<boolean> {
    this.#wasAccepted = false;
    const text = await askAgain();
    if (text === this.#text) return false;
    this.#text = text;
    return true;
  }
}
