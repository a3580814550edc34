import { beginOf, type PageAddress, type PageAnswer } from './page.ts';
import { type Plan, reachOf } from './plan.ts';

/** The most pages beyond the last needed one that are asked for while each is full, although no total states them. */
const pagesBeyondMax = 20;

/**
 * The progress of a reading in its plan. The list ends where the newest total says, and that can change during the
 * reading.
 */
export class ReadingPlan {
  readonly #plan: Plan;
  #cursor = 0;
  #beyond = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** The next page that a list of `total` records needs; null if there is none. */
  next(total: number): PageAddress | null {
    const page = this.#plan.at(this.#cursor);
    const before = this.#plan.at(this.#cursor - 1);
    if (page === null) return null;
    if (before !== null && (beginOf(page) >= total || reachOf(before) > total)) return null;
    this.#cursor++;
    return page;
  }

  /** One more page if the last one was full: then the list might go on, whatever the totals say. */
  nextBeyond(answers: readonly PageAnswer[]): PageAddress | null {
    const last = this.#plan.at(this.#cursor - 1);
    const page = this.#plan.at(this.#cursor);
    if (last === null || page === null || this.#beyond >= pagesBeyondMax) return null;
    const answer = answers.findLast(({ index, size }) => index === last.index && size === last.size);
    if (answer === undefined || answer.summary.count < answer.size) return null;
    this.#beyond++;
    this.#cursor++;
    return page;
  }

  /** Whether the plan can't go on to the end of a list of `total` records. */
  stopsBefore(total: number): boolean {
    return this.#plan.countFor(total) === null;
  }
}
