import type { Answer, Counting, ItemsOf } from './answer.ts';
import type { Envelope } from './envelope.ts';
import { type Asked, PagePlan } from './page-plan.ts';
import { PagesSeen } from './pages-seen.ts';
import { indexesOf, type Laid, layStrip } from './strip.ts';

/** What an answer says besides its items; null stands for an answer that there is no such page. */
export interface AnswerEnvelope extends Pick<Answer, 'total' | 'count' | 'digest' | 'sum'> {
  readonly pageNo: number;
  readonly pageCount: number;
}

/** What an answer is, for the walk: a page of the list, at a place that may be another than was asked for; or nothing of it. */
export type Place =
  | { readonly kind: 'page'; readonly index: number }
  /** Holds records, but the walk is contradicted and can't say where they stand. */
  | { readonly kind: 'stray' }
  /** No records, or those of a page that has come. */
  | { readonly kind: 'nothing' };

/** Pages without records after which a contradicted walk ends, however many the service says that there are. */
const emptyPagesMax = 10;
/** Contradictions that are told; a list that moves all the time would fill the run's record. */
const contradictionsMax = 5;
/** Pages beyond a total that are read all the same: so many for each page that it states, and so many more. */
const pagesBeyondPerPage = 100;
const pagesBeyondMore = 1_000;

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
  readonly #plan = new PagePlan();
  /** Answers that were no page of the list, by what they were; `round` counts those that held what had come. */
  readonly #odd = { empty: 0, beyond: 0, other: 0, round: 0 };
  #laid: Laid | null = null;
  #newestTotal: number;
  /** The newest total when the end was proved last; null before. */
  #totalAtEnd: number | null = null;
  /** Not null where a page that had come came again for the one after the last. */
  #repeatedEnd: { readonly isDenied: boolean; readonly isEchoed: boolean } | null = null;
  #isAlwaysTheSame = false;
  #isOver = false;

  /** @param learnt from where the list's places are counted, as earlier runs learnt it. */
  constructor(envelope: Envelope, learnt: Counting | null, itemsOf: ItemsOf) {
    this.envelope = envelope;
    this.#learnt = learnt;
    this.#itemsOf = itemsOf;
    this.#newestTotal = envelope.totalRecordCount;
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
    return this.#repeatedEnd !== null;
  }

  /** True where by the service's own `pageCount` there was a page where the walk found the end. */
  get isEndDenied(): boolean {
    return this.#repeatedEnd?.isDenied === true;
  }

  /** True where it said that it was the one that was asked for. */
  get isEndEchoed(): boolean {
    return this.#repeatedEnd?.isEchoed === true;
  }

  /** True where records came that the total of their answer does not count. */
  get isTotalDenied(): boolean {
    return this.#odd.beyond > 0;
  }

  /** How many answers said that they were another page than was asked for, although that one was there, and were not the last one. */
  get strayCount(): number {
    return this.#odd.other;
  }

  /** Which page to ask for next, from 0; null where there is none for now: more may be to ask for when what is under way has arrived. */
  next(): Asked | null {
    const index = this.#nextIndex();
    if (index === null) return null;
    this.#plan.sent();
    return { index, totalBefore: this.#newestTotal, isBeyond: index >= this.pageCount };
  }

  /** The first page, which was asked for before the walk began. */
  askedFirst(): Asked {
    this.#plan.sent();
    return { index: this.#plan.nextBeyond(), totalBefore: 0, isBeyond: false };
  }

  /** Says that the first page was taken from an interrupted walk, which holds the same. */
  skipFirst(): void {
    this.#plan.answered();
  }

  /** Takes a page from an interrupted walk, so that it is not asked for again. */
  take(answer: Answer): void {
    this.#plan.take(answer.index);
    this.#newestTotal = Math.max(this.#newestTotal, answer.total);
    this.#note(answer);
    this.enter(answer);
  }

  /** Tells what an answer is; `enter` is then to be called with it where it is a page of the list. */
  place(asked: Asked, answer: AnswerEnvelope | null): Place {
    this.#plan.answered();
    this.#laid = null;
    if (answer === null || isBlank(asked.index, answer)) return this.#noSuchPage(asked.index);
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
    this.#note(answer);
    return placed;
  }

  /** Enters a page of the list. */
  enter(answer: Answer): void {
    this.answers.push(answer);
  }

  #note(page: Pick<Answer, 'count' | 'digest' | 'sum'>): void {
    this.seen.add(page, page.count >= this.envelope.pageSize);
    if (!this.seen.areAlikeForGood(this.#itemsOf)) return;
    this.#isAlwaysTheSame = true;
    this.#contradict(`each of ${this.seen.count} pages held the same records`);
  }

  #nextIndex(): number | null {
    if (this.#isOver) return null;
    const isGoingOn = !this.#isPointless();
    const index = this.#plan.next(isGoingOn ? this.pageCount : 0);
    if (index !== null || this.#plan.isWaiting) return index;
    return this.#totalAtEnd === null && isGoingOn ? this.#plan.nextBeyond() : this.#closeGaps();
  }

  /** Lays the strip when all else has arrived, and asks again for what it does not cover. */
  #closeGaps(): number | null {
    const { pageSize, totalRecordCount } = this.envelope;
    const required = Math.max(totalRecordCount, this.#totalAtEnd ?? 0);
    const laid = layStrip(this.answers, pageSize, required, this.#learnt, this.#itemsOf);
    this.#laid = laid;
    if (laid.kind === 'conflict') this.#contradict('two answers held different records at one place');
    this.#isOver = this.#contradictions.size > 0 || laid.kind !== 'strip' || laid.gaps.length === 0;
    if (this.#isOver || laid.kind !== 'strip') return null;
    const { counting } = laid.strip;
    const indexes = laid.gaps.flatMap(gap => indexesOf(gap, counting, pageSize, this.#newestTotal));
    if (this.#plan.repair(new Set(indexes), this.pageCount)) return this.#plan.next(0);
    this.#contradict('the list moved on faster than it could be read');
    this.#isOver = true;
    return null;
  }

  #askedPage(index: number, answer: AnswerEnvelope, due: number): Place {
    if (answer.count === due) return { kind: 'page', index };
    this.#contradict(
      `page ${this.#name(index)} held ${answer.count} records instead of ${due}, but totalRecordCount is ${answer.total}`,
    );
    return { kind: 'stray' };
  }

  /** Another page came than was asked for, although by the total the one asked for is there: where it is not full, there is not. */
  #otherPage(index: number, answer: AnswerEnvelope): Place {
    this.#contradict(`asked for page ${this.#name(index)}, the service answered with page ${answer.pageNo}`);
    const isLast = answer.pageNo !== this.#name(0) && answer.count < this.envelope.pageSize;
    if (!isLast) this.#odd.other++;
    if (this.seen.has(answer)) this.#odd.round++;
    return { kind: 'stray' };
  }

  /** An answer that by its own total is past the end: the last page once more, or records that no total tells of. */
  #pageBeyond(index: number, answer: AnswerEnvelope): Place {
    const again = this.#pageSentAgain(answer);
    if (again !== null) {
      this.#repeatedEnd = {
        isDenied: this.isEndDenied || answer.pageCount > index,
        isEchoed: this.isEndEchoed || answer.pageNo === this.#name(index),
      };
      this.#proveEnd();
      return again;
    }
    this.#contradict(`page ${this.#name(index)} holds records, but totalRecordCount is ${answer.total}`);
    if (this.seen.has(answer)) {
      // The service goes round: what follows is what was seen.
      this.#odd.round++;
      this.#proveEnd();
    } else this.#odd.beyond++;
    // It is no further page where it says itself that it is another one, or where it is not full.
    const isLast = answer.pageNo !== this.#name(index) || answer.count < this.envelope.pageSize;
    if (isLast || this.#odd.beyond >= this.#pagesBeyondMax) this.#proveEnd();
    this.seen.addBeyond(answer);
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
    this.#totalAtEnd = this.#newestTotal;
  }

  #emptyPage(index: number, due: number): Place {
    if (due === 0) {
      if (index >= this.#asFarAsStated()) this.#proveEnd();
      return { kind: 'nothing' };
    }
    this.#odd.empty++;
    this.#contradict(`page ${this.#name(index)} held no records instead of ${due}`);
    return { kind: 'nothing' };
  }

  #noSuchPage(index: number): Place {
    if (index >= this.#asFarAsStated()) {
      this.#proveEnd();
    } else {
      this.#odd.empty++;
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
    return this.#isAlwaysTheSame || this.#odd.empty >= emptyPagesMax || this.#odd.round >= 2;
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

/** Past the end some services, which count with the rows that they select, say that there is no record at all. */
function isBlank(index: number, { count, total }: AnswerEnvelope): boolean {
  return index > 0 && count === 0 && total === 0;
}
