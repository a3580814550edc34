import { contradictedOnce, countedAnswers, doubtOfPage, endingAnswers } from './end.ts';
import type { LearntOrder } from './order.ts';
import { type PlaceRange, proveByOverlap } from './overlap.ts';
import type { Identity, ItemsOf, PageAddress, PageAnswer, PageSummary } from './page.ts';
import { overlapOf, Plan, pageAround } from './plan.ts';
import { ReadingPlan } from './reading-plan.ts';
import { placesToRepair, repairsMax } from './repairs.ts';
import { type Ask, Requests } from './requests.ts';
import { pagesOfSecondLook, secondLooksMax } from './second-look.ts';
import { type KeyWindows, type Verdict, verdictByKey, wholePages, windowsByKey } from './verdict.ts';

/** The facts that a full sync of a list needs before its first request. */
export interface CourseOptions {
  readonly identity: Identity;
  /** The greatest page size that the service serves. */
  readonly largest: number;
  /** Records that neighbouring pages have in common; if left out, as `overlapOf` says. */
  readonly overlap?: number;
  readonly learnt: LearntOrder;
  /** The total of the last run, so that more than one request can be sent at first; 0 if there was none. */
  readonly expectedTotal: number;
  /** Whether two rows of the mirror are the same record: then only keys show how many there are. */
  readonly hasTwins: boolean;
  /** Whether a run of the last days has used an address: eight times `DOCMIRROR_FULL_EVERY`. */
  readonly isUsed: (address: PageAddress) => boolean;
  readonly itemsOf: ItemsOf;
}

/**
 * At most this many answers that contradict their total are asked for once more. If there are more, the totals are of
 * no use.
 */
const askedAgainMax = 12;

/**
 * A full sync of one list: the pages to ask for, and the result. Ask for the page that `next` returns, as many at once
 * as you like. Call `answered` for each answer as it arrives, in any order. If `next` returns null and nothing is under
 * way, `verdict` is final; `lookAgain` can then be called with the rows that would be removed.
 */
export class Course {
  readonly #options: CourseOptions;
  readonly #requests: Requests;
  /** A list without a visible key is read a second time, by other pages, at addresses that were not used. */
  readonly #plans: readonly [ReadingPlan, ReadingPlan];
  #reading: 0 | 1 = 0;
  readonly #firstPages = new Set<string>();
  #repairs = 0;
  #looks = 0;
  #verdict: Verdict | null = null;
  #windows: KeyWindows | null = null;

  constructor(options: CourseOptions) {
    this.#options = options;
    this.#requests = new Requests(options.isUsed);
    this.#plans = [
      new ReadingPlan(this.#plan(() => false)),
      new ReadingPlan(this.#plan(this.#requests.isUsed)),
    ];
  }

  /** All answers so far. */
  get answers(): readonly PageAnswer[] {
    return this.#requests.answers;
  }

  /** The result of the answers; null while there is more to ask for. */
  get verdict(): Verdict | null {
    return this.#verdict;
  }

  /** The page to ask for now; null if an answer has to come first, or if there is nothing more to ask for. */
  next(): Ask | null {
    for (;;) {
      const ask = this.#requests.send();
      if (ask !== null || this.#verdict !== null) return ask;
      const page = this.#looks > 0 ? null : this.#plans[this.#reading].next(this.#total());
      if (page !== null) this.#requests.add(page, this.#reading);
      else if (this.#requests.areUnderWay) return null;
      else this.#weigh();
    }
  }

  /** Notes an answer. `summary` is the one of its page, read or known. */
  answered(ask: Ask, total: number, summary: PageSummary): PageAnswer {
    const answer = this.#requests.enter(ask, total, summary);
    const doubt = doubtOfPage(answer, this.answers);
    if (this.#isFirstPageAgain(answer)) this.#agree('a page of the list is the first one again');
    else if (doubt === 'cut') this.#agree('the service sends pages of another size than it was asked for');
    else if (this.#verdict === null && this.#looks === 0 && this.#plans[0].stopsBefore(this.#total()))
      this.#agree('pages are too small for a plan of pages that overlap');
    if (doubt === 'again') this.#requests.add(answer, answer.reading, answer.isSecondLook);
    return answer;
  }

  /**
   * Asks for a second look at rows that would be removed. Call it again with those that it did not confirm.
   *
   * @param keys of these rows, one for each row; NaN if a row has none.
   * @returns false if there is no second look: the rule needs none, no address is left, or there were enough of them.
   */
  lookAgain(keys: Float64Array): boolean {
    if (this.#verdict === null || keys.length === 0 || this.#looks >= secondLooksMax) return false;
    const { isUsed } = this.#requests;
    const { largest, itemsOf } = this.#options;
    const look = {
      largest,
      itemsOf,
      keys,
      isUsed,
      newestTotal: this.#total(),
      wholePlan: this.#plan(isUsed),
    };
    const pages = pagesOfSecondLook(this.#verdict.rule, this.#windows, look);
    for (const page of pages) this.#requests.add(page, 0, true);
    if (pages.length === 0) return false;
    this.#looks++;
    this.#verdict = null;
    return true;
  }

  /** Ends the course: the service does not serve the pages that it was asked for, so windows prove nothing. */
  giveUp(reason: string): void {
    this.#agree(reason);
  }

  /** How many records the list has, by the newest answer. */
  get total(): number {
    return this.#total();
  }

  /** How many readings were begun. */
  get readingCount(): number {
    return this.#reading + 1;
  }

  #plan(isUsed: (address: PageAddress) => boolean): Plan {
    const { largest, identity, overlap = overlapOf(largest, identity) } = this.#options;
    return new Plan(largest, overlap, isUsed);
  }

  /** How many records the list has, by the newest answer. */
  #total(): number {
    return this.#requests.newest?.total ?? this.#options.expectedTotal;
  }

  /** Everything that was asked for has arrived: is that enough, and if not, what else helps? */
  #weigh(): void {
    const { identity, learnt, itemsOf } = this.#options;
    const { answers } = this.#requests;
    const again = contradictedOnce(answers);
    if (again.length > 0 && again.length <= askedAgainMax) {
      for (const answer of again) this.#requests.add(answer, answer.reading, answer.isSecondLook);
      return;
    }
    const { isWhole, isConfirmed } = wholePages(answers);
    if (!isWhole) this.#windows = windowsByKey(answers, learnt, identity, itemsOf);
    if (isWhole) this.#verdict = { rule: 'page', isProven: true, isConfirmed };
    else if (this.#windows?.isProven) this.#verdict = verdictByKey(this.#windows);
    else if (!this.#goesOn()) this.#weighRules();
  }

  /** Whether the plan has another page to ask for, or can't reach the end of the list. */
  #goesOn(): boolean {
    const plan = this.#plans[this.#reading];
    const beyond = this.#looks > 0 ? null : plan.nextBeyond(this.answers);
    if (beyond !== null) this.#requests.add(beyond, this.#reading);
    else if (plan.stopsBefore(this.#total()))
      this.#agree('pages are too small for a plan of pages that overlap');
    return beyond !== null || this.#verdict !== null;
  }

  /**
   * Whether a full page is the same as the first one, byte for byte, at another place: the service might ignore the
   * page number.
   */
  #isFirstPageAgain({ index, size, summary }: PageAnswer): boolean {
    if (summary.count < size || summary.count < 2) return false;
    if (index === 0) this.#firstPages.add(summary.digest);
    return index > 0 && this.#firstPages.has(summary.digest);
  }

  #weighRules(): void {
    if (this.#windows === null) {
      this.#weighOverlap();
      return;
    }
    const places = placesToRepair(this.#windows.chains, this.#total());
    if (!this.#repair(places, 0)) this.#verdict = verdictByKey(this.#windows);
  }

  #weighOverlap(): void {
    const { identity, itemsOf, hasTwins } = this.#options;
    // If an answer of the second look is out of order, only the first reading counts.
    if (hasTwins || this.#looks > 0) {
      this.#agree(hasTwins ? 'two rows of the mirror are the same record' : 'a page is out of order');
      return;
    }
    const isSecondDue = this.#reading === 0; // guard: two readings
    if (isSecondDue) {
      this.#reading = 1;
      return;
    }
    const readings = [0, 1].map(number => this.answers.filter(({ reading }) => reading === number));
    const ending = endingAnswers(countedAnswers(this.answers));
    const overlap = proveByOverlap(readings, ending, identity, itemsOf);
    if (overlap.kind === 'unfit') this.#agree(overlap.reason);
    else if (overlap.kind === 'proven')
      this.#verdict = { rule: 'overlap', isProven: true, isConfirmed: true };
    else if (!this.#repair(overlap.at, overlap.reading)) this.#agree('neighbouring pages share no record');
  }

  /** Asks for pages around places that are open in a reading; false if no page would help. */
  #repair(places: readonly PlaceRange[], reading: number): boolean {
    const { largest } = this.#options;
    const { isUsed, isUsedNow } = this.#requests;
    for (const { from, to } of places) {
      if (this.#repairs >= repairsMax) break;
      const page = pageAround(from, to, largest, isUsed) ?? pageAround(from, to, largest, isUsedNow);
      if (page === null) continue;
      this.#repairs++;
      this.#requests.add(page, reading);
    }
    return this.#requests.areQueued;
  }

  #agree(reason: string): void {
    this.#verdict = { rule: 'agreement', isProven: false, reason };
  }
}
