import type { Sum } from '../contract/sum.ts';
import type { Answer, Counting, ItemsOf } from './answer.ts';
import { PagesSeen } from './pages-seen.ts';
import { type Laid, layStrip, type Places } from './strip.ts';

/** How a list's first answer describes it. */
export interface Envelope {
  /** The `pageNo` of the first page. */
  readonly firstPageNo: number;
  /** Records on a full page. */
  readonly pageSize: number;
  readonly pageCount: number;
  readonly totalRecordCount: number;
}

/** What an answer says besides its items; null stands for an answer that there is no such page. */
export interface AnswerEnvelope {
  readonly pageNo: number;
  readonly pageCount: number;
  readonly total: number;
  readonly count: number;
  readonly digest: string;
  readonly sum: Sum;
}

/** What an answer is, for the walk: a page of the list, at a place that may be another than was asked for; or nothing of it. */
export type Place =
  | { readonly kind: 'page'; readonly index: number }
  /** Holds records, but the walk is contradicted and can't say where they stand. */
  | { readonly kind: 'stray' }
  /** No records, or those of a page that has come. */
  | { readonly kind: 'nothing' };

/** A request of a walk that is under way. */
export interface Asked {
  readonly index: number;
  /** The greatest total that had arrived when it was sent. */
  readonly totalBefore: number;
  /** True where by that total there is no such page: it is asked for to prove the end. */
  readonly isBeyond: boolean;
}

/** Pages without records after which a contradicted walk ends, however many the service says that there are. */
const emptyPagesMax = 10;
/** Contradictions that are told; a list that moves all the time would fill the run's record. */
const contradictionsMax = 5;
/** Pages beyond a total that are read all the same: so many for each page that it states, and so many more. */
const pagesBeyondPerPage = 100;
const pagesBeyondMore = 1_000;
/** Requests that close gaps: so many for each page, and so many more. */
const repairsPerPage = 2;
const repairsMore = 20;

/**
 * The account of one walk: says what to ask for next, and is told each answer, in the order in which they arrive. A walk
 * that the service contradicts goes on, so that what it lists is seen, but it proves nothing.
 */
export class WalkAccount {
  readonly envelope: Envelope;
  readonly answers: Answer[] = [];
  /** The pages that came with records. */
  readonly seen = new PagesSeen();
  readonly #learnt: Counting | null;
  readonly #itemsOf: ItemsOf;
  readonly #contradictions = new Set<string>();
  /** Pages that an interrupted run has brought already. */
  readonly #taken = new Set<number>();
  readonly #repairs: number[] = [];
  #laid: Laid | null = null;
  #cursor = 0;
  #inFlight = 0;
  #newestTotal: number;
  /** How many places the walk has to cover: what stood when it began and, once its end is proved, what stood then. */
  #required: number;
  #isEndProved = false;
  #isAlwaysTheSame = false;
  #isEndRepeated = false;
  #isEndDenied = false;
  #pagesBeyond = 0;
  #emptyPages = 0;
  #strays = 0;
  #repeatedStrays = 0;
  #repairsMade = 0;
  #isOver = false;

  /** @param learnt from where the list's places are counted, as earlier runs learnt it. */
  constructor(envelope: Envelope, learnt: Counting | null, itemsOf: ItemsOf) {
    this.envelope = envelope;
    this.#learnt = learnt;
    this.#itemsOf = itemsOf;
    this.#newestTotal = envelope.totalRecordCount;
    this.#required = envelope.totalRecordCount;
  }

  /** Where the service contradicted itself, in words; a walk with such words agrees with nothing. */
  get contradictions(): readonly string[] {
    return [...this.#contradictions];
  }

  /** How the answers lie, once the walk is over and uncontradicted; null before and otherwise. */
  get laid(): Laid | null {
    return this.#contradictions.size === 0 ? this.#laid : null;
  }

  /** Pages by the newest word of the service. */
  get pageCount(): number {
    return Math.max(1, Math.ceil(this.#newestTotal / this.envelope.pageSize));
  }

  /** The same as a list's record has it: of an empty list some services say that it has one page, and others none. */
  get statedPageCount(): number {
    return this.#newestTotal === 0 ? this.envelope.pageCount : this.pageCount;
  }

  get newestTotal(): number {
    return this.#newestTotal;
  }

  /** True where several pages came and all of them held the same. */
  get isAllAlike(): boolean {
    return this.seen.areOne && this.seen.count > 1;
  }

  /** True where a page that had come came again for the one after the last: the service may not serve what follows. */
  get isEndRepeated(): boolean {
    return this.#isEndRepeated;
  }

  /** True where by the service's own `pageCount` there was a page where the walk found the end. */
  get isEndDenied(): boolean {
    return this.#isEndDenied;
  }

  /** How many answers said that they were another page than was asked for, although that one was there. */
  get strayCount(): number {
    return this.#strays;
  }

  /** Which page to ask for next, from 0; null where there is none for now: more may be to ask for when what is under way has arrived. */
  next(): Asked | null {
    const index = this.#nextIndex();
    if (index === null) return null;
    this.#inFlight++;
    return { index, totalBefore: this.#newestTotal, isBeyond: index >= this.pageCount };
  }

  /** The first page, which was asked for before the walk began. */
  askedFirst(): Asked {
    this.#cursor = 1;
    this.#inFlight++;
    return { index: 0, totalBefore: 0, isBeyond: false };
  }

  /** Says that the first page was taken from an interrupted walk, which holds the same. */
  skipFirst(): void {
    this.#inFlight--;
  }

  /** Takes a page from an interrupted walk, so that it is not asked for again. */
  take(answer: Answer): void {
    this.#taken.add(answer.index);
    this.#newestTotal = Math.max(this.#newestTotal, answer.total);
    this.#note(answer.digest);
    this.enter(answer);
  }

  /** Tells what an answer is; `enter` is then to be called with it where it is a page of the list. */
  place(asked: Asked, answer: AnswerEnvelope | null): Place {
    this.#inFlight--;
    this.#laid = null;
    if (answer === null) return this.#noSuchPage(asked.index);
    if (answer.total < asked.totalBefore) {
      this.#contradict(
        `totalRecordCount fell from ${asked.totalBefore} to ${answer.total} on page ${this.#name(asked.index)}`,
      );
    }
    this.#newestTotal = Math.max(this.#newestTotal, answer.total);
    const due = this.#due(asked.index, answer.total);
    const isAskedPage = answer.pageNo === this.#name(asked.index);
    if (answer.count === 0) return this.#emptyPage(asked.index, due);
    if (due === 0) return this.#pageBeyond(asked.index, answer);
    const placed = isAskedPage
      ? this.#askedPage(asked.index, answer, due)
      : this.#otherPage(asked.index, answer);
    this.#note(answer.digest);
    return placed;
  }

  /** Enters a page of the list. */
  enter(answer: Answer): void {
    this.answers.push(answer);
  }

  #note(digest: string): void {
    this.seen.add(digest);
    if (!this.seen.areAlikeForGood(this.#itemsOf)) return;
    this.#isAlwaysTheSame = true;
    this.#contradict(`each of ${this.seen.count} pages held the same records`);
  }

  #nextIndex(): number | null {
    if (this.#isOver) return null;
    while (this.#taken.has(this.#cursor)) this.#cursor++;
    if (this.#cursor < this.pageCount && !this.#isPointless()) return this.#cursor++;
    if (this.#repairs.length > 0) return this.#repairs.pop() as number;
    if (this.#inFlight > 0) return null;
    if (!this.#isEndProved && !this.#isPointless()) return this.#cursor++;
    return this.#closeGaps();
  }

  /** Lays the strip when all else has arrived, and asks again for what it does not cover. */
  #closeGaps(): number | null {
    this.#laid = layStrip(this.answers, this.envelope.pageSize, this.#required, this.#learnt, this.#itemsOf);
    if (this.#laid.kind === 'conflict') this.#contradict('two answers held different records at one place');
    const gaps = this.#laid.kind === 'strip' ? this.#laid.gaps : [];
    if (this.#contradictions.size > 0 || gaps.length === 0) {
      this.#isOver = true;
      return null;
    }
    const indexes = new Set(gaps.flatMap(gap => this.#indexesOf(gap)));
    this.#repairsMade += indexes.size;
    if (this.#repairsMade > repairsPerPage * this.pageCount + repairsMore) {
      this.#contradict('the list moved on faster than it could be read');
      this.#isOver = true;
      return null;
    }
    this.#repairs.push(...indexes);
    return this.#repairs.pop() as number;
  }

  /** The pages on which places stand by the newest total. */
  #indexesOf({ from, to }: Places): number[] {
    const { pageSize } = this.envelope;
    const isFromBack = this.#laid?.kind === 'strip' && this.#laid.strip.counting === 'back';
    const first = isFromBack ? this.#newestTotal - to : from;
    const last = isFromBack ? this.#newestTotal - 1 - from : to - 1;
    const indexes: number[] = [];
    for (let index = Math.floor(first / pageSize); index <= Math.floor(last / pageSize); index++)
      indexes.push(index);
    return indexes;
  }

  #askedPage(index: number, answer: AnswerEnvelope, due: number): Place {
    if (answer.count === due) return { kind: 'page', index };
    this.#contradict(
      `page ${this.#name(index)} held ${answer.count} records instead of ${due}, but totalRecordCount is ${answer.total}`,
    );
    return { kind: 'stray' };
  }

  /** Another page came than was asked for, although the one asked for is there. */
  #otherPage(index: number, { pageNo, digest }: AnswerEnvelope): Place {
    this.#contradict(`asked for page ${this.#name(index)}, the service answered with page ${pageNo}`);
    this.#strays++;
    if (this.seen.has(digest)) this.#repeatedStrays++;
    return { kind: 'stray' };
  }

  /** An answer that by its own total is past the end: the last page once more, or records that no total tells of. */
  #pageBeyond(index: number, answer: AnswerEnvelope): Place {
    const again = this.#pageSentAgain(answer);
    if (again !== null) {
      this.#isEndRepeated = true;
      this.#isEndDenied ||= answer.pageCount > index;
      this.#proveEnd();
      return again;
    }
    this.#contradict(`page ${this.#name(index)} holds records, but totalRecordCount is ${answer.total}`);
    if (this.seen.has(answer.digest)) {
      // The service goes round: what follows is what was seen.
      this.#repeatedStrays++;
      this.#isEndProved = true;
    }
    // It is no further page where it says itself that it is another one, or where it is not full.
    const isLast = answer.pageNo !== this.#name(index) || answer.count < this.envelope.pageSize;
    if (isLast || ++this.#pagesBeyond >= this.#pagesBeyondMax) this.#isEndProved = true;
    this.seen.addBeyond(answer.digest);
    return { kind: 'stray' };
  }

  /**
   * What came in the place of a page that is not there: the last page, the first one, or the one that the answer says it is, if it
   * holds what that page held; the same records may come in other bytes, or in another order. Null where it is none of the list by
   * the answer's own total.
   */
  #pageSentAgain({ pageNo, total, count, digest, sum }: AnswerEnvelope): Place | null {
    const last = Math.max(0, Math.ceil(total / this.envelope.pageSize) - 1);
    const said = pageNo - this.envelope.firstPageNo;
    // One record alone may as well be a duplicate of the first one, beyond a total that is wrong.
    const candidates = count > 1 ? [last, said, 0] : [last, said];
    for (const index of candidates) {
      if (index < 0 || index > last || count !== this.#due(index, total)) continue;
      const known = this.answers.find(each => each.index === index && each.total === total);
      if (known === undefined && (index === last || index === said)) return { kind: 'page', index };
      if (known?.digest === digest || known?.sum.equals(sum)) return { kind: 'nothing' };
    }
    return null;
  }

  #proveEnd(): void {
    this.#isEndProved = true;
    this.#required = Math.max(this.#required, this.#newestTotal);
  }

  #emptyPage(index: number, due: number): Place {
    if (due === 0) {
      if (index >= this.#asFarAsStated()) this.#proveEnd();
      return { kind: 'nothing' };
    }
    this.#emptyPages++;
    this.#contradict(`page ${this.#name(index)} held no records instead of ${due}`);
    return { kind: 'nothing' };
  }

  #noSuchPage(index: number): Place {
    if (index >= this.#asFarAsStated()) {
      this.#proveEnd();
    } else {
      this.#emptyPages++;
      this.#contradict(
        `page ${this.#name(index)} is not there, but totalRecordCount is ${this.#newestTotal}`,
      );
    }
    return { kind: 'nothing' };
  }

  get #pagesBeyondMax(): number {
    return pagesBeyondPerPage * this.#asFarAsStated() + pagesBeyondMore;
  }

  /** Pages by the total that stood when the walk began: those after them may be there or not. */
  #asFarAsStated(): number {
    return Math.max(1, Math.ceil(this.envelope.totalRecordCount / this.envelope.pageSize));
  }

  /** Whether going on is of no use: the list has ended, or the service sends the same whatever it is asked for. */
  #isPointless(): boolean {
    return this.#isAlwaysTheSame || this.#emptyPages >= emptyPagesMax || this.#repeatedStrays >= 2;
  }

  #due(index: number, total: number): number {
    const { pageSize } = this.envelope;
    return Math.min(pageSize, Math.max(0, total - index * pageSize));
  }

  #name(index: number): number {
    return this.envelope.firstPageNo + index;
  }

  #contradict(words: string): void {
    if (this.#contradictions.size < contradictionsMax) this.#contradictions.add(words);
  }
}
