/**
 * The token of one run, which can expire during the run. A token that was accepted and is refused now is asked for
 * again, once for all requests that were refused with it, until the new one is accepted.
 */
export class AccessToken {
  #text: string;
  /** Since the token was last asked for. */
  #wasAccepted = false;
  #renewal: Promise<boolean> | undefined;
  readonly #askAgain: (() => Promise<string>) | undefined;

  /** @param askAgain asks for the token at its source; left out if it can't change. */
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
   * Finds out whether another token can be tried after this one was refused.
   *
   * @throws any error of asking for the token.
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
