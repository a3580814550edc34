/** A request of a walk that is under way. */
export interface Asked {
  readonly index: number;
  /** The greatest total that had arrived when it was sent. */
  readonly totalBefore: number;
  /** True where by that total there is no such page: it is asked for to prove the end. */
  readonly isBeyond: boolean;
}

/** Requests that close gaps: so many for each page, and so many more. */
const repairsPerPage = 2;
const repairsMore = 20;

/** Which pages a walk has still to ask for, from 0: one after the other, and those anew where gaps were left. */
export class PagePlan {
  /** Pages that an interrupted run has brought already. */
  readonly #taken = new Set<number>();
  readonly #repairs: number[] = [];
  #cursor = 0;
  #inFlight = 0;
  #repairsMade = 0;

  /** True while an answer is still to come. */
  get isWaiting(): boolean {
    return this.#inFlight > 0;
  }

  /** Leaves out a page that an interrupted run has brought. */
  take(index: number): void {
    this.#taken.add(index);
  }

  /** The next of the first `count` pages, or one that is to be asked for anew; null where there is none. */
  next(count: number): number | null {
    while (this.#taken.has(this.#cursor)) this.#cursor++;
    return this.#cursor < count ? this.#cursor++ : (this.#repairs.pop() ?? null);
  }

  /** The page after those that were asked for. */
  nextBeyond(): number {
    return this.#cursor++;
  }

  /** Puts down pages to be asked for anew; false where they would be more than a list of `count` pages is worth. */
  repair(indexes: ReadonlySet<number>, count: number): boolean {
    this.#repairsMade += indexes.size;
    if (this.#repairsMade > repairsPerPage * count + repairsMore) return false;
    this.#repairs.push(...indexes);
    return true;
  }

  /** Notes that a request was sent. */
  sent(): void {
    this.#inFlight++;
  }

  /** Notes that the answer to a request has come. */
  answered(): void {
    this.#inFlight--;
  }
}
