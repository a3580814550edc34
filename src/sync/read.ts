import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import type { Asking, Batch } from '../proof/reading.ts';
import { type Answer, type Ask, beginOf, type PageAddress, PageItems, reachOf } from '../proof/window.ts';
import type { Stage } from '../store/write/stage.ts';
import type { ListTask } from './list-task.ts';
import { type Envelope, type Fetched, type FirstPage, PageRequests, wrongSize } from './pages.ts';

/** The facts about a list's readings, however it ends. */
export interface ListProgress {
  envelope: Envelope | null;
  /** The newest total. */
  total: number | null;
  /** How many readings were begun. */
  walks: number;
}

/** At most this many pages of a list can fail for good; the rest is then read all the same. */
const failedPagesMax = 5;
/** Pages of a reading can be smaller than the list's own, but at most this many times. */
const sizesMax = 4;
const nothing = new PageItems('', new Float64Array(0), new Uint8Array(0), 'id');

/** Drives a proof: asks for the pages that it wants, a few requests in flight, stages what comes, and tells it the answers. */
export class Reader {
  readonly #task: ListTask;
  readonly #stage: Stage;
  readonly #progress: ListProgress;
  readonly #envelope: Envelope;
  readonly #requests: PageRequests;
  readonly #failed: PageAddress[] = [];
  #first: FirstPage['page'] | null;
  #tick = 0;
  #isSecondLook = false;

  /**
   * @param first the list's first page, if it was asked for already; it is then the first answer.
   * @param isTrusting whether pages that are remembered need no parsing.
   */
  constructor(
    task: ListTask,
    stage: Stage,
    progress: ListProgress,
    first: Pick<FirstPage, 'envelope' | 'sendsServedSize'> & { readonly page: FirstPage['page'] | null },
    isTrusting: boolean,
  ) {
    this.#task = task;
    this.#stage = stage;
    this.#progress = progress;
    this.#envelope = first.envelope;
    this.#first = first.page;
    this.#requests = new PageRequests(
      task.source,
      task.list,
      first,
      digest => isTrusting && stage.isKnown(digest),
    );
  }

  /** @throws ServiceError if a page can't be read, or the list has more pages than are allowed. */
  async read<Result>(asking: Asking<Result>): Promise<Result> {
    let step = asking.next();
    while (step.done !== true) step = asking.next(await this.#answer(step.value));
    return step.value;
  }

  async #answer({ pages, stop, again }: Batch): Promise<Answer[]> {
    const { list, source, signal, observer, pagesMax } = this.#task;
    if (again !== null) {
      this.#progress.walks++;
      observer.walkAgain(list, again);
    }
    const isSecondLook = pages.some(page => page.isSecondLook);
    if (again !== null || (isSecondLook && !this.#isSecondLook)) this.#stage.names.beginRound();
    this.#isSecondLook = isSecondLook;
    const reading = new AbortController();
    const abort = () => reading.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const left = [...pages];
    const answers: Answer[] = [];
    const underWay = new Set<Promise<void>>();
    const settled: (() => Answer)[] = [];
    let wake = () => {};
    let isOver = false;
    const send = () => {
      while (!isOver && left.length > 0 && underWay.size + settled.length < source.concurrency) {
        const ask = left.shift() as Ask;
        if (ask.index > pagesMax * sizesMax) throw tooManyPages(this.#task, ask.index);
        const asked = ++this.#tick;
        const request: Promise<void> = this.#get(ask, reading.signal)
          .then(
            fetched => settled.push(() => this.#enter({ ...ask, asked }, fetched)),
            (error: unknown) =>
              settled.push(() => {
                throw error;
              }),
          )
          .then(() => {
            underWay.delete(request);
            wake();
          });
        underWay.add(request);
      }
    };
    try {
      for (send(); underWay.size + settled.length > 0; send()) {
        if (settled.length === 0) await new Promise<void>(resolve => (wake = resolve));
        signal.throwIfAborted();
        const enter = settled.shift();
        if (enter === undefined) continue;
        // The next request is sent before this page is processed: after a turn of the event loop it is on its way.
        send();
        await nextTurn();
        const answer = enter();
        answers.push(answer);
        isOver ||= stop(answer);
        const stated = Math.ceil((this.#progress.total ?? 0) / this.#envelope.pageSize);
        observer.pageDone(list, this.#envelope.firstPageNo + answer.index, Math.max(1, stated));
      }
      return answers;
    } finally {
      signal.removeEventListener('abort', abort);
      reading.abort(new Error('The reading has ended.'));
      await Promise.allSettled(underWay);
    }
  }

  async #get(ask: Ask, signal: AbortSignal): Promise<Fetched> {
    const page = this.#first;
    const isFirst = ask.index === 0 && ask.size === this.#envelope.pageSize && ask.sent === null;
    if (page === null || !isFirst) return this.#requests.get(ask, signal);
    this.#first = null;
    return { page };
  }

  /** Stages a page, and says what of it counts. */
  #enter(ask: Ask & { readonly asked: number }, fetched: Fetched): Answer {
    const total = this.#progress.total ?? 0;
    const none = { ...ask, arrived: ++this.#tick, total, page: nothing, oldestNewKeys: [] };
    if (fetched.page === null) {
      const { page: _page, ...why } = fetched;
      if (why.wrong === 'failed') this.#noteFailed(ask, why.reason ?? '');
      return { ...none, ...why };
    }
    const { pagination } = fetched.page;
    const read = this.#stage.read(fetched.page, ask);
    const count = read.page.count;
    // Past the end some services answer with a total of zero.
    const isBlank = ask.index > 0 && count === 0 && pagination.totalRecordCount === 0;
    const stated = isBlank ? total : pagination.totalRecordCount;
    this.#progress.total = stated;
    const { firstPageNo, pageSize } = this.#envelope;
    const pageNo = firstPageNo + ask.index;
    const isAsked = pagination.pageNo === pageNo; // guard: pageNo of the answer
    if (!isAsked) {
      // If a page that is not full is repeated, the list might have ended, and its total might be too high.
      const isOther = beginOf(ask) < stated && count >= ask.size;
      const reason = `asked for page ${pageNo}, the service answered with page ${pagination.pageNo}`;
      return isOther
        ? { ...none, total: stated, wrong: 'page', reason }
        : { ...none, total: stated, wrong: null };
    }
    const isOwn = ask.size === pageSize && ask.sent === null;
    const isOtherSize = !isOwn && (pagination.pageSize !== ask.size || count > ask.size); // guard: size of the answer
    if (isOtherSize) return { ...none, total: stated, wrong: 'size', reason: wrongSize };
    return { ...none, ...read, total: stated, wrong: null };
  }

  /** Pages around one that fails can fail with it; others are too many at last. */
  #noteFailed(page: PageAddress, reason: string): void {
    const overlaps = (other: PageAddress) => beginOf(page) < reachOf(other) && beginOf(other) < reachOf(page);
    if (this.#failed.some(overlaps)) return;
    this.#failed.push(page);
    if (this.#failed.length > failedPagesMax)
      throw new ServiceError('server_error', `more than ${failedPagesMax} pages can't be read: ${reason}`, {
        retryable: false,
      });
  }
}

/** The error of a list that has more pages than are allowed. */
export function tooManyPages(
  { list, pagesMax }: Pick<ListTask, 'list' | 'pagesMax'>,
  pages: number,
): ServiceError {
  return new ServiceError(
    'too_many_pages',
    `${list.resource} has ${pages} pages, but no more than ${pagesMax} are read. If that is right, set DOCMIRROR_MAX_PAGES or --max-pages.`,
    { retryable: false },
  );
}
