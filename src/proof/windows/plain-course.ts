import type { LearntOrder } from './order.ts';
import type { Identity, ItemsOf, PageAddress, PageAnswer, PageSummary } from './page.ts';
import { PlainReading, type PlainResult } from './plain-reading.ts';
import { Plan } from './plan.ts';
import { type Ask, Requests } from './requests.ts';
import { pagesOfSecondLook, secondLooksMax } from './second-look.ts';
import { type KeyWindows, type Verdict, verdictByKey, windowsByKey } from './verdict.ts';

/** The facts that plain readings need. */
export interface PlainOptions {
  readonly identity: Identity;
  readonly largest: number;
  readonly learnt: LearntOrder;
  /** Whether the service serves pages of one size only. */
  readonly hasOneSize: boolean;
  /** The newest total so far. */
  readonly expectedTotal: number;
  readonly isUsed: (address: PageAddress) => boolean;
  readonly itemsOf: ItemsOf;
  /** Why windows prove nothing. */
  readonly reason: string;
}

const readingsMax = 4;
/** The second size as a share of the first: its pages are cut at other places, and there are not many more of them. */
const otherSizeShare = 0.8;

/**
 * Rule 3: plain readings of the whole list, by two page sizes if the service serves them. If two in a row agree, the
 * list is proven. If their pages are windows on visible keys that cover all keys, it is proven by key. It is used like
 * `Course`.
 */
export class PlainCourse {
  readonly #options: PlainOptions;
  readonly #requests: Requests;
  readonly #readings: PlainReading[] = [];
  readonly #results: PlainResult[] = [];
  #verdict: Verdict | null = null;
  #windows: KeyWindows | null = null;
  #looks = 0;
  #hasOneSize: boolean;

  constructor(options: PlainOptions) {
    this.#options = options;
    this.#hasOneSize = options.hasOneSize;
    this.#requests = new Requests(options.isUsed);
    this.#begin();
  }

  get answers(): readonly PageAnswer[] {
    return this.#requests.answers;
  }

  get verdict(): Verdict | null {
    return this.#verdict;
  }

  /** How many readings were begun. */
  get readingCount(): number {
    return this.#readings.length;
  }

  next(): Ask | null {
    for (;;) {
      const ask = this.#requests.send();
      if (ask !== null || this.#verdict !== null) return ask;
      if (this.#looks > 0) {
        if (this.#requests.areUnderWay) return null;
        this.#weighLook();
        continue;
      }
      const reading = this.#reading;
      const page = reading.next(this.total);
      if (page !== null) this.#add(page);
      else if (this.#requests.areUnderWay) return null;
      else {
        const beyond = reading.nextBeyond(this.total);
        if (beyond !== null) this.#add(beyond);
        else this.#weigh();
      }
    }
  }

  answered(ask: Ask, total: number, summary: PageSummary): PageAnswer {
    const answer = this.#requests.enter(ask, total, summary);
    if (!ask.isSecondLook) this.#readings[ask.reading]?.enter(answer);
    return answer;
  }

  /** Notes that the service answered with a different page. */
  noteOther(ask: Ask, reason: string): void {
    this.#readings[ask.reading]?.noteOther(reason);
  }

  /** Notes that the service does not serve a size: from here on, all readings are by the largest. */
  refuseSizes(): void {
    if (this.#hasOneSize) return;
    this.#hasOneSize = true;
    if (this.#reading.size !== this.#options.largest) {
      this.#readings.pop();
      this.#begin();
    }
  }

  lookAgain(keys: Float64Array): boolean {
    if (this.#hasOneSize || this.#windows === null || this.#verdict?.rule !== 'key') return false;
    if (keys.length === 0 || this.#looks >= secondLooksMax) return false;
    const { isUsed } = this.#requests;
    const wholePlan = new Plan(this.#options.largest, 1, isUsed);
    const look = { ...this.#options, keys, isUsed, newestTotal: this.total, wholePlan };
    const pages = pagesOfSecondLook('key', this.#windows, look);
    for (const page of pages) this.#requests.add(page, 0, true);
    if (pages.length === 0) return false;
    this.#looks++;
    this.#verdict = null;
    return true;
  }

  get #reading(): PlainReading {
    return this.#readings.at(-1) as PlainReading;
  }

  #begin(): void {
    const { largest } = this.#options;
    const other = otherSizeOf(largest);
    const isOther = this.#readings.length % 2 === 1 && !this.#hasOneSize;
    this.#readings.push(new PlainReading(isOther ? other : largest));
  }

  #add(page: PageAddress): void {
    this.#requests.add(page, this.#readings.length - 1);
  }

  /** How many records the list has, by the newest answer. */
  get total(): number {
    return this.#requests.newest?.total ?? this.#options.expectedTotal;
  }

  #weigh(): void {
    const { identity, itemsOf } = this.#options;
    const result = this.#reading.result(identity, itemsOf);
    const before = this.#results.at(-1);
    this.#results.push(result);
    // Pages of one reading share a record only if the list changed meanwhile, or is in another order.
    const windows = showsTwice(result) ? null : this.#keyWindows(); // guard: pages of one reading share nothing
    if (windows?.isProven) {
      this.#windows = windows;
      this.#verdict = verdictByKey(windows);
    } else if (result.kind === 'complete' && this.#doAgree(before, result)) {
      this.#verdict = { rule: 'agreement', isProven: true, isConfirmed: true, repeated: result.repeated };
    } else if (this.#readings.length < readingsMax) this.#begin();
    else this.#verdict = { rule: 'agreement', isProven: false, ...this.#failure(result) };
  }

  /**
   * Whether two readings agree. If a record is on two pages, an unstable order might show it twice and hide another
   * one. Then three have to agree, not all cut alike.
   */
  #doAgree(before: PlainResult | undefined, now: PlainResult & { readonly kind: 'complete' }): boolean {
    if (!haveSame(before, now)) return false;
    if (now.repeated.length === 0) return true;
    if (this.#hasOneSize) return false; // guard: records on two pages
    return haveSame(this.#results.at(-3), now);
  }

  #weighLook(): void {
    const windows = this.#keyWindows();
    if (windows === null) {
      this.#verdict = { rule: 'agreement', isProven: false, reason: 'a page is out of order' };
      return;
    }
    this.#windows = windows;
    this.#verdict = verdictByKey(windows);
  }

  #keyWindows(): KeyWindows | null {
    const { identity, learnt, itemsOf } = this.#options;
    return this.#hasOneSize ? null : windowsByKey(this.answers, learnt, identity, itemsOf);
  }

  #failure(last: PlainResult): { reason: string; isPageNoIgnored: boolean } {
    const [before, newest] = this.#readings.slice(-2) as [PlainReading, PlainReading];
    const isPageNoIgnored = before.isAlike && newest.isAlike && this.#results.every(isContradicted);
    const why =
      last.kind === 'contradicted'
        ? last.reason
        : last.repeated.length > 0
          ? 'identical records are on two pages'
          : 'two readings differ';
    return { reason: `${this.#options.reason}; ${why}`, isPageNoIgnored };
  }
}

/** Whether a record is on two pages of a reading that was complete otherwise. */
function showsTwice(result: PlainResult): boolean {
  return result.kind === 'complete' ? result.repeated.length > 0 : result.isIdTwice;
}

function isContradicted({ kind }: PlainResult): boolean {
  return kind === 'contradicted';
}

/** The second size: only after many pages does one of its pages end where one of the first size does. */
function otherSizeOf(largest: number): number {
  if (largest === 1) return 2;
  let size = Math.max(1, Math.floor(largest * otherSizeShare));
  while (size > 1 && greatestDivisor(size, largest) > 1) size--;
  return size;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** Whether two readings have the same records, on whatever pages. */
function haveSame(before: PlainResult | undefined, now: PlainResult): boolean {
  if (before?.kind !== 'complete' || now.kind !== 'complete') return false;
  return before.count === now.count && before.sum.equals(now.sum); // guard: two readings agree
}
