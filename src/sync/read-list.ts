import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { hash16Hex } from '../contract/sum.ts';
import { ServiceError } from '../errors.ts';
import { Course } from '../proof/windows/course.ts';
import { checkTotal, countedAnswers, endingAnswers } from '../proof/windows/end.ts';
import { directionOf } from '../proof/windows/order.ts';
import {
  beginOf,
  type Identity,
  type ItemsOf,
  type PageAnswer,
  type PageSummary,
  summaryOf,
} from '../proof/windows/page.ts';
import { PlainCourse } from '../proof/windows/plain-course.ts';
import type { Ask } from '../proof/windows/requests.ts';
import type { Verdict } from '../proof/windows/verdict.ts';
import type { OpenList } from './list-task.ts';
import { type PageAsk, type PageReply, requestPages } from './page-requests.ts';
import { type Envelope, type FirstPage, getFirstPage, pageSizeAtFirst, pagesStated } from './page-size.ts';

/** The result of reading a whole list. */
export interface FullReading {
  readonly verdict: Verdict;
  readonly answers: readonly PageAnswer[];
  readonly ending: ReadonlySet<PageAnswer>;
  /** True if no page is left for a second look at rows that would be removed. */
  readonly isLookExhausted: boolean;
}

/** The facts about a list's readings, however it ends. */
export interface ListProgress {
  envelope: Envelope | null;
  /** The newest total. */
  total: number | null;
  /** How many readings were begun. */
  walks: number;
}

/**
 * Reads a whole list: by overlapping pages or, if they prove nothing, by plain readings. Then it searches a second time
 * for rows that would be removed.
 *
 * @param isTrusting whether pages that are known from the last proven full sync can be left unread.
 * @throws ServiceError if a page can't be read, or the list has more pages than are allowed.
 */
export async function readList(
  task: OpenList,
  progress: ListProgress,
  isTrusting: boolean,
): Promise<FullReading> {
  const first = await getFirstPage(task.source, task.list, task.pageSize ?? pageSizeAtFirst, task.signal);
  const { pageSize, totalRecordCount } = first.envelope;
  progress.envelope = first.envelope;
  progress.total = totalRecordCount;
  progress.walks++;
  boundPages(task, first.envelope);
  task.observer.walkStarted(task.list, progress.walks, pagesStated(first.envelope));
  for (const page of first.tried) await task.listMirror.read(page, { index: 0, size: pageSize }, task.signal);

  const windows = windowsReader(task, first);
  const reader = new ListReader(task, first, progress, windows, isTrusting);
  await reader.enterFirst();
  await reader.readAll();
  const verdict = windows.verdict as Verdict;
  if (verdict.isProven || (verdict.rule === 'key' && !mayReadPlainly(windows))) return reader.confirm();

  const reason = verdict.reason ?? 'the answers do not cover all keys';
  task.observer.walkAgain(task.list, reason);
  const plain = plainReader(task, first, windows, reader.isOneSize, reason);
  const again = new ListReader(task, first, progress, plain, false);
  await again.readAll();
  assertPagesHeeded(task, plain.verdict as Verdict);
  const isBetter = verdict.rule === 'agreement' || plain.verdict?.isProven === true;
  const reading = isBetter ? await again.confirm() : await reader.confirm();
  const others = isBetter ? windows : plain;
  return { ...reading, answers: [...others.answers, ...reading.answers] };
}

/**
 * Whether plain readings can prove more than windows. If all answers state the same total, the list seems not to
 * change: more records might have one key than are on a page. If an answer does not fit its own total, the list might
 * go on after the end that its totals state.
 */
function mayReadPlainly({ answers }: Course): boolean {
  const isStill = answers.every(({ total }) => total === answers[0]?.total);
  return isStill || countedAnswers(answers).some(isTotalWrong);
}

/** Whether an answer does not fit its own total, also because it has records at or beyond it. */
function isTotalWrong(answer: PageAnswer): boolean {
  return (
    checkTotal(answer) === 'contradicts' || (answer.summary.count > 0 && beginOf(answer) >= answer.total)
  );
}

function windowsReader({ list, listMirror }: OpenList, { envelope }: FirstPage): Course {
  return new Course({
    identity: identityOf(list),
    largest: envelope.pageSize,
    learnt: listMirror.memory.order,
    expectedTotal: envelope.totalRecordCount,
    get hasTwins() {
      return listMirror.hasTwins();
    },
    isUsed: address => listMirror.isUsed(address),
    itemsOf: itemsIn(listMirror),
  });
}

function plainReader(
  { list, listMirror }: OpenList,
  { envelope }: FirstPage,
  windows: Course,
  hasOneSize: boolean,
  reason: string,
): PlainCourse {
  const { order } = listMirror.memory;
  return new PlainCourse({
    identity: identityOf(list),
    largest: envelope.pageSize,
    // One answer that is out of order is enough, even if the plain pages are all in order.
    learnt: directionOf(windows.answers, order) === null ? 'none' : order,
    hasOneSize,
    expectedTotal: windows.total,
    isUsed: address => listMirror.isUsed(address),
    itemsOf: itemsIn(listMirror),
    reason,
  });
}

/** How a list's records are told apart. */
export function identityOf(list: ListDefinition): Identity {
  return list.identity.by;
}

/** Finds the items of an answer. */
export function itemsIn(listMirror: OpenList['listMirror']): ItemsOf {
  return ({ summary }) => listMirror.itemsOf(summary.digest);
}

/** Asks for the pages that a course wants, and passes the answers to it. */
class ListReader {
  readonly #task: OpenList;
  readonly #first: FirstPage;
  readonly #progress: ListProgress;
  readonly #course: Course | PlainCourse;
  readonly #isTrusting: boolean;
  /** True if the service answered with pages of another size than it was asked for, or refused a size. */
  isOneSize = false;
  #round = 1;

  constructor(
    task: OpenList,
    first: FirstPage,
    progress: ListProgress,
    course: Course | PlainCourse,
    isTrusting: boolean,
  ) {
    this.#task = task;
    this.#first = first;
    this.#progress = progress;
    this.#course = course;
    this.#isTrusting = isTrusting;
    if (course instanceof PlainCourse) task.listMirror.beginRound();
  }

  /** Enters the first page, which was asked for before the course began. */
  async enterFirst(): Promise<void> {
    const ask = this.#course.next();
    if (ask === null) throw new Error('A course begins with the first page.');
    await this.#enter({ ask: { ...ask, isBeyond: false }, page: this.#first.page, isSizeRefused: false });
  }

  async readAll(): Promise<void> {
    const { source, list, signal, observer, listMirror } = this.#task;
    const { envelope, sendsServedSize } = this.#first;
    const requests = {
      source,
      list,
      signal,
      sendsServedSize,
      firstPageNo: envelope.firstPageNo,
      servedSize: envelope.pageSize,
      isKnown: (digest: string) => this.#isTrusting && listMirror.isKnown(digest),
    };
    for await (const reply of requestPages(requests, () => this.#next())) {
      await this.#enter(reply);
      observer.pageDone(list, envelope.firstPageNo + reply.ask.index, this.#pageCount());
    }
  }

  /** Searches a second time for rows that would be removed, while there are pages left that can show them. */
  async confirm(): Promise<FullReading> {
    const { listMirror } = this.#task;
    for (;;) {
      const verdict = this.#course.verdict as Verdict;
      const ending = endingAnswers(countedAnswers(this.#course.answers));
      const reading = (isLookExhausted: boolean) => {
        return { verdict, answers: this.#course.answers, ending, isLookExhausted };
      };
      const keys = await listMirror.keysToConfirm(verdict, this.#task.signal);
      if (keys.length === 0) return reading(false);
      if (this.isOneSize || !this.#course.lookAgain(keys)) return reading(true);
      listMirror.beginRound();
      await this.readAll();
      // The service does not serve these other sizes, so their pages do not contradict the reading before.
      if (this.isOneSize) return reading(true);
    }
  }

  #next(): (Ask & PageAsk) | null {
    const course = this.#course;
    if (course instanceof Course && this.isOneSize && course.verdict === null && this.#isMore())
      course.giveUp('the service serves pages of one size only');
    const ask = course.next();
    if (course.readingCount > this.#round) {
      this.#round = course.readingCount;
      this.#progress.walks++;
      this.#task.listMirror.beginRound();
    }
    if (ask === null) return null;
    if (ask.index > this.#task.pagesMax * sizesMax) throw tooManyPages(this.#task, ask.index);
    return { ...ask, isBeyond: ask.index * ask.size >= course.total };
  }

  /** Whether the list has more than the first page. */
  #isMore(): boolean {
    return this.#course.total > this.#first.envelope.pageSize;
  }

  async #enter({ ask, page, isSizeRefused }: PageReply<Ask & PageAsk>): Promise<void> {
    const course = this.#course;
    if (page === null) {
      course.answered(ask, course.total, noItems);
      if (isSizeRefused) this.#noteOneSize();
      return;
    }
    const { pagination } = page;
    const { summary } = await this.#task.listMirror.read(page, ask, this.#task.signal);
    // Past the end some services answer with a total of zero.
    const isBlank = ask.index > 0 && summary.count === 0 && pagination.totalRecordCount === 0;
    const total = isBlank ? course.total : pagination.totalRecordCount;
    this.#progress.total = total;
    const pageNo = this.#first.envelope.firstPageNo + ask.index;
    const isOther = pagination.pageNo !== pageNo; // guard: pageNo of the answer
    const isOtherSize = this.#isOtherSize(ask, page, summary);
    course.answered(ask, total, isOther || isOtherSize ? noItems : summary);
    // If a page that is not full is repeated, the list might have ended, and its total might be too high.
    if (isOther && ask.index * ask.size < total && summary.count >= ask.size)
      this.#noteOther(ask, `asked for page ${pageNo}, the service answered with page ${pagination.pageNo}`);
    else if (isOtherSize) this.#noteOneSize();
  }

  #isOtherSize(ask: Ask, { pagination }: Page, { count }: PageSummary): boolean {
    if (ask.size === this.#first.envelope.pageSize) return false;
    return pagination.pageSize !== ask.size || count > ask.size; // guard: size of the answer
  }

  #noteOneSize(): void {
    this.isOneSize = true;
    if (this.#course instanceof Course)
      this.#course.giveUp('the service does not serve pages of the size that it was asked for');
    else this.#course.refuseSizes();
  }

  #noteOther(ask: Ask, reason: string): void {
    if (this.#course instanceof Course) this.#course.giveUp(reason);
    else this.#course.noteOther(ask, reason);
  }

  #pageCount(): number {
    return Math.max(1, Math.ceil(this.#course.total / this.#first.envelope.pageSize));
  }
}

/** Pages of a reading can be smaller than the list's own, but at most this many times. */
const sizesMax = 4;

const noItems: PageSummary = summaryOf(
  { keys: new Float64Array(0), contents: new Uint8Array(0) },
  hash16Hex('[]'),
  'id',
);

/** @throws ServiceError if a list has more pages than are allowed. */
function boundPages(task: OpenList, envelope: Envelope): void {
  const pages = pagesStated(envelope);
  if (pages > task.pagesMax) throw tooManyPages(task, pages);
}

function tooManyPages({ list, pagesMax }: OpenList, pages: number): ServiceError {
  return new ServiceError(
    'too_many_pages',
    `${list.resource} has ${pages} pages, but no more than ${pagesMax} are read. If that is right, set DOCMIRROR_MAX_PAGES or --max-pages.`,
    { retryable: false },
  );
}

function assertPagesHeeded({ source, list }: OpenList, verdict: Verdict): void {
  if (verdict.rule !== 'agreement' || verdict.isProven || verdict.isPageNoIgnored !== true) return;
  throw new ServiceError(
    'pagination_ignored',
    `GET ${source.baseUrl}${list.path}: the service ignores pageNo: ${verdict.reason}`,
    { retryable: false },
  );
}
