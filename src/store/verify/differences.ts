/** Something in the mirror that is not as docmirror wrote it. */
export interface Difference {
  /** The table that it is found in; null where the file itself is damaged. */
  readonly table: string | null;
  /** The row's id; null where it is no single row's fault, or the row is gone. */
  readonly id: number | null;
  readonly what: string;
}

/** Differences: all are counted, the first ones kept. */
export class Differences {
  readonly kept: Difference[] = [];
  readonly #limit: number;
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#count;
  }

  add(table: string | null, id: number | null, what: string): void {
    this.#count++;
    if (this.kept.length < this.#limit) this.kept.push({ table, id, what });
  }
}
