// Of all phases: the list's facts, and the log of answers, which each phase reads. Verdicts go from phase to phase in prove.ts.

import { greatestOf } from '../contract/extremes.ts';
import {
  type Answer,
  type Ask,
  addressText,
  beginOf,
  endOf,
  inTime,
  type PageAddress,
  type Shown,
} from './answers.ts';
import type { Identity } from './keys.ts';
import type { LearntOrder } from './order.ts';
import type { PageItems } from './page-items.ts';
import { otherSizes, Plan, sizesMax, type Ties } from './plan.ts';
import { type AbsentRow, type Asking, askOne, type Batch, EndedEarly } from './questions.ts';
import { countedAnswers, isContradicted, isShort } from './totals.ts';

/** This key and all greater ones; all of the list if it is null, because no order of keys is seen. */
export interface KeysBeyond {
  readonly beyond: number | null;
}

/** A list, as its proof sees it. */
export interface ListFacts {
  readonly identity: Identity;
  /** The greatest page size that the service serves. */
  readonly largest: number;
  /** How many records neighbouring pages have in common, at least. */
  readonly overlap: number;
  readonly learnt: LearntOrder;
  /** The run's number: page sizes of second looks rotate with it, so that no cache can have kept their pages. */
  readonly run: number;
  /** The total that the run before found; null if there was none. */
  readonly totalBefore: number | null;
  /** The totals of pages that were read before the first one, by sizes that were not served. */
  readonly totalsTried?: readonly number[];
  /** Whether a run that proved the list has seen the same page; left out if nothing is known. */
  readonly isKnown?: (digest: string) => boolean;
  /** Whether the run before proved what the mirror has, and this run goes on with nothing. */
  readonly isAfterCleanRun?: boolean;
  /** The growing end of which the run before let rows stay, because the list seemed to be being filled; left out or null if it did not. */
  readonly retained?: KeysBeyond | null;
  /** Where the mirror has records that share a key; left out if nothing is known. */
  readonly ties?: Ties | null;
  /** The pages that were planned by such ties when the reading began, if an earlier run began it. */
  readonly planned?: readonly PageAddress[];
}

/** However a list behaves, a run asks for at most so many times its pages, and some more. */
const timesPagesMax = 12;
const requestsMin = 100;
/** The most pages beyond the end that totals state, while each is full. */
export const pagesBeyondMax = 20;
/** The most pages in a row without a record that are read because the service states them. */
const emptyPagesMax = 20;

/** Whether an answer says nothing, and the pages after it need not be asked for. */
export const isWrong = (answer: Answer): boolean => answer.wrong !== null && answer.wrong.kind !== 'failed';

/** The least number of pages that are asked for at once, and by how many places the list can move meanwhile. */
const partMin = 8;
const movedMax = 2;

/** How pages are asked for; `isRepair` if they are to close gaps. */
export type AskOptions = Partial<
  Pick<Ask, 'isSecondLook' | 'requestedSize'> &
    Pick<Batch, 'again' | 'stop' | 'mayRecall' | 'isPart'> & { readonly isRepair: boolean }
>;

/**
 * Whether two equal pages of one number begin at different places by the sizes that they state, and do not fit these. If both fit, a record
 * before them has gone. By a size of the service's own, the list has room for as many pages as long as this one.
 */
const isOfNoSize = (one: Answer, other: Answer): boolean =>
  one.size !== other.size &&
  one.total === other.total &&
  [one, other].every(answer => answer.index > 0 && answer.page.count > 0 && beginOf(answer) < answer.total) &&
  (one.index + 1) * one.page.count <= one.total && // guard: room for pages of another size
  [one, other].some(answer => isContradicted(answer) || answer.page.count > answer.size);

/** Records that share a key, as the pages of one size show them together. */
export interface Across {
  /** These pages as one answer. */
  readonly answer: Answer;
  readonly within: PageItems;
}

/**
 * The log of a run: all answers, in the order in which they came, and what they show together. Only two things are written to it: replies
 * to what is asked for, and notes of what was planned, merged or missed. All else is computed from these.
 */
export class AnswerLog {
  readonly list: ListFacts;
  /** Sizes for readings by other pages than those of the largest size. */
  readonly otherSizes: readonly number[];
  /** The answers that say something, among them those that are several merged ones. */
  readonly #answers: Answer[] = [];
  readonly answers: readonly Answer[] = this.#answers;
  /** Those that say nothing of their address, but have totals. */
  readonly #misplaced: Answer[] = [];
  readonly misplaced: readonly Answer[] = this.#misplaced;
  /** Pages that fail for good. */
  readonly #failed: Answer[] = [];
  readonly failed: readonly Answer[] = this.#failed;
  /** The pages that overlap; the first page shows by how much. */
  plan: Plan;
  /** How many pages were asked for to close gaps. */
  repairs = 0;
  /** How many these were before the pages of full scans took the place of the plan; null if they did not. */
  repairsBefore: number | null = null;
  /** Whether no second answer has shown the end, however often it was looked for. */
  isWitnessMissed = false;
  /** The rows that the answers so far have not shown; null if that was not asked since the last one came. */
  absent: readonly AbsentRow[] | null = null;
  /** True if the service answered with pages of another size than it was asked for, or refused a size. */
  hasOneSize = false;
  /** True if pages by a size that the service ignores are of its own size, or if that was not tried yet. */
  ignoresSizes = true;
  readonly #across = new Map<string, readonly Across[]>();
  readonly #used = new Map<string, Answer>();
  /** The newest page with a number and a digest: the same one by another size is of a service that ignores sizes. */
  readonly #pages = new Map<string, Answer>();
  /** The sizes that were asked for and ignored, each by a reading of its own. */
  readonly #requestedSizes = new Set<number>();
  /** Those of the answers that count; null if that was not computed since the last one came. */
  #counted: readonly Answer[] | null = null;
  /** How many pages were asked for, with those that came by another size before the first one. */
  #asked: number;
  #newest: Answer | null = null;
  /** The place after the furthest record so far. */
  #furthest = 0;
  /** The sum of all changes of the total, and of each answer how much it was before. */
  #moved = 0;
  readonly #movedBefore = new Map<Answer, number>();

  constructor(list: ListFacts) {
    this.list = list;
    this.plan = new Plan(list.largest, list.overlap);
    this.otherSizes = otherSizes(list.largest, list.run);
    this.#asked = list.totalsTried?.length ?? 0;
  }

  /** The answers that count. */
  get counted(): readonly Answer[] {
    this.#counted ??= countedAnswers(this.answers);
    return this.#counted;
  }

  /** Records that were read across pages, as if they were on one. */
  get merged(): readonly Shown[] {
    return this.answers.filter(({ only }) => only !== undefined);
  }

  /** The next size that the service might ignore, so that its own pages have other addresses. */
  get ignoredSize(): number {
    const { largest, run } = this.list;
    return largest + 1 + ((run + this.#requestedSizes.size) % sizesMax);
  }

  /** How many records the list has, by the answer that was asked for last. */
  get total(): number {
    return this.#newest?.total ?? 0;
  }

  /**
   * The place up to which it is read: by the newest total or, if pages before the last one are short, by the pages that the service states.
   * Of these no more than some that follow the last record.
   */
  get extent(): number {
    const { answers, total, list } = this;
    const stated = answers.some(isShort) // guard: pages that are short go on to the last one
      ? greatestOf(answers.map(({ pageCount, size }) => (pageCount ?? 0) * size))
      : 0;
    return Math.max(total, Math.min(stated, this.#furthest + emptyPagesMax * list.largest));
  }

  /** Whether the totals of this run differ. */
  get isMoving(): boolean {
    return this.#moved > 0;
  }

  /** How many pages can be asked for at once before the list has moved by more than pages have as a margin; infinite if it stands still. */
  get partMax(): number {
    if (!this.isMoving) return Number.POSITIVE_INFINITY;
    return Math.max(partMin, Math.floor((movedMax * this.answers.length) / this.#moved));
  }

  /** What pages of one size have shown of records that share some keys, before they were merged. */
  across(keys: string): readonly Across[] {
    return this.#across.get(keys) ?? [];
  }

  /** Notes what pages of one size show of records that share some keys, and that they count as one answer if others agree. */
  merge(keys: string, now: Across, doAgree: boolean): void {
    this.#across.set(keys, [...this.across(keys), now]);
    if (!doAgree) return;
    this.#answers.push(now.answer);
    this.#counted = null;
  }

  /** Whether a page was answered in this run. */
  readonly isUsed = (page: PageAddress): boolean => this.#used.has(addressText(page));

  /** The newest answers at these addresses, if this run has them all and the total was the same all the while; or else null. */
  together(pages: readonly PageAddress[]): readonly Answer[] | null {
    const answers = pages.map(page => this.#used.get(addressText(page)));
    const isOne = (answer: Answer | undefined): answer is Answer =>
      answer !== undefined &&
      this.#movedBefore.has(answer) &&
      this.#movedBefore.get(answer) === this.#movedBefore.get(answers[0] as Answer); // guard: pages of one moment
    return answers.every(isOne) ? answers : null;
  }

  /** @throws EndedEarly if the run has asked for too many pages, or can't go on. */
  *ask(pages: readonly PageAddress[], options: AskOptions = {}): Asking<readonly Answer[]> {
    if (pages.length === 0) return [];
    const { isSecondLook = false, isRepair = false, again = null, requestedSize = null, ...others } = options;
    const { stop = isWrong, mayRecall = false, isPart = false } = others;
    const { largest } = this.list;
    const [first] = this.answers;
    // A list that grows as fast as it is read has totals that grow with it; other totals are too small.
    const isTotalPassed = this.answers.every(({ total }) => total < this.#furthest);
    const listed = Math.max(first?.total ?? 0, isTotalPassed ? this.#furthest : 0);
    this.#asked += pages.length;
    if (requestedSize !== null) this.#requestedSizes.add(requestedSize);
    if (this.#asked > requestsMin + timesPagesMax * Math.ceil(listed / largest))
      throw new EndedEarly({ code: 'changes_too_fast' });
    const asks = pages.map(({ index, size }) => {
      const isBeyond = index > 0 && beginOf({ index, size }) >= this.total;
      return { index, size, requestedSize, isSecondLook, isBeyond };
    });
    try {
      const { answers } = yield* askOne({ kind: 'pages', pages: asks, again, stop, mayRecall, isPart });
      this.#append(answers);
      if (isRepair) this.repairs += answers.length;
      return answers;
    } catch (error) {
      if (error instanceof EndedEarly) this.#append(error.answers);
      throw error;
    }
  }

  #append(answers: readonly Answer[]): void {
    [this.absent, this.#counted] = [null, null];
    this.#noteMoves(answers);
    for (const answer of answers) {
      this.#used.set(addressText(answer), answer);
      if (answer.wrong !== null) {
        const { wrong, requestedSize } = answer;
        (wrong.kind === 'failed' ? this.#failed : this.#misplaced).push(answer);
        if (wrong.kind === 'size' && requestedSize === null) this.hasOneSize = true;
        if (wrong.kind === 'size' && requestedSize !== null) this.ignoresSizes = false;
        continue;
      }
      // Pages of identical records can be the same wherever they begin.
      if (this.list.identity === 'id') this.#comparePage(answer);
      this.#answers.push(answer);
      if (answer.page.count > 0) this.#furthest = Math.max(this.#furthest, endOf(answer));
      if (this.#newest === null || answer.asked > this.#newest.asked) this.#newest = answer;
    }
  }

  #comparePage(answer: Answer): void {
    const name = `${answer.index} ${answer.page.digest}`;
    const other = this.#pages.get(name);
    this.#pages.set(name, answer);
    this.hasOneSize ||= other !== undefined && isOfNoSize(other, answer); // guard: sizes that are ignored and echoed
  }

  #noteMoves(answers: readonly Answer[]): void {
    let before = this.#newest;
    for (const answer of inTime(answers)) {
      if (answer.wrong !== null || answer.isRecalled) continue;
      if (before !== null && !before.isRecalled) this.#moved += Math.abs(answer.total - before.total);
      this.#movedBefore.set(answer, this.#moved);
      before = answer;
    }
  }
}
