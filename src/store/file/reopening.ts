import { fileKey } from './connections.ts';

/** Keeps a file open, and opens it anew when another file has taken its name: a mirror that was restored, say. */
export class Reopening<T extends { close(): void }> {
  readonly #path: string;
  readonly #open: () => T;
  #key: string | null;
  #current: T;

  /** @param open opens what lies at the path now. */
  constructor(path: string, open: () => T) {
    this.#path = path;
    this.#open = open;
    this.#key = fileKey(path);
    this.#current = open();
  }

  /**
   * What is open now. While nothing lies at the path, that is what was open last.
   *
   * @throws what `open` throws, where what lies there now can't be opened.
   */
  current(): T {
    const key = fileKey(this.#path);
    if (key !== null && key !== this.#key) {
      const opened = this.#open();
      this.#current.close();
      this.#current = opened;
      this.#key = key;
    }
    return this.#current;
  }

  close(): void {
    this.#current.close();
  }
}
