/** Joins numbers from 0 to groups, step by step. */
export class Groups {
  readonly #parents: Int32Array;

  constructor(count: number) {
    this.#parents = Int32Array.from({ length: count }, (_, at) => at);
  }

  /** The number that identifies the group of a number. */
  of(number: number): number {
    let group = number;
    while (this.#parents[group] !== group) group = this.#parents[group] as number;
    this.#parents[number] = group;
    return group;
  }

  areOne(number: number, other: number): boolean {
    return this.of(number) === this.of(other);
  }

  join(number: number, other: number): void {
    this.#parents[this.of(other)] = this.of(number);
  }
}
