// A try at a list, between the proof and the service: the proof asks for pages, they are fetched and staged, and it is told what they show.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Page } from '../contract/page.ts';
import { CancelledError, ServiceError } from '../errors.ts';
import { sentencesOf } from '../findings.ts';
import type { Answer, Ask } from '../proof/answers.ts';
import type { Finding } from '../proof/findings.ts';
import { type Asking, type Batch, EndedEarly, type Question, type Reply } from '../proof/questions.ts';
import type { Stage } from '../store/write/stage.ts';
import {
  type Asked,
  answerOf,
  FailedPages,
  type Fetched,
  pageGetter,
  seePage,
  tooManyPages,
} from './pages.ts';
import { type Done, type Failed, type ListRun, Pause, type ReadSoFar } from './task.ts';

const endsReading = (error: unknown): error is Error =>
  error instanceof ServiceError || error instanceof CancelledError || error instanceof Pause;

/**
 * Drives a proof: asks for its pages, a few at a time, stages what comes, and tells it the answers, of which `first` came before. If the
 * run is cancelled or no page comes, a full reading concludes from what came, and an incremental one fails.
 */
export async function drive<Result>(
  asking: Asking<Result>,
  run: ListRun,
  begun: ReadSoFar,
  first: Page | null,
): Promise<Done<Result> | (Failed & { readonly found: ReadSoFar })> {
  const pages = new ListPages(run, begun, first);
  let endedBy: Error | null = null;
  let step = asking.next();
  while (step.done !== true) {
    if (step.value.kind !== 'pages') {
      step = asking.next(replyTo(begun.stage, step.value));
      continue;
    }
    const answers: Answer[] = [];
    const error = await pages.answer(step.value, answers).catch((thrown: unknown) => thrown);
    if (error === undefined) step = asking.next({ kind: 'pages', answers });
    else if (begun.mode === 'full' && endsReading(error)) {
      endedBy = error;
      const [records, total, isPaused] = [begun.stage.seenCount, pages.found.total, error instanceof Pause];
      const finding: Finding = { code: 'ended_early', records, total, isPaused, goesOn: false };
      step = asking.throw(new EndedEarly(finding, answers));
    } else return { kind: 'failed', error, found: pages.found };
  }
  return { kind: 'done', result: step.value, endedBy, found: pages.found };
}

/** Answers by what the mirror knows of the records that have come. */
function replyTo(stage: Stage, question: Exclude<Question, Batch>): Reply {
  if (question.kind === 'added') return { kind: 'added', count: stage.reconciliation.inserted };
  // This question changes what is written, too: records of several pages then count as one answer.
  stage.countAsOne(question.merged);
  return { kind: 'absent', rows: stage.rowsToDecide };
}

/** Pages of a reading can be smaller than the list's own, but at most this many times. */
const smallerTimesMax = 4;

/** The pages of a list, as a proof asks for them. */
class ListPages {
  found: ReadSoFar;
  readonly #run: ListRun;
  readonly #failed = new FailedPages();
  readonly #getPage: GetPage;
  /** The page that came before; null once it is used. */
  #first: Page | null;
  /** Counts what is sent and what arrives. */
  #logicalClock = 0;
  /** The records of this reading so far. */
  #done = 0;

  constructor(run: ListRun, begun: ReadSoFar, first: Page | null) {
    [this.#run, this.found, this.#first] = [run, begun, first];
    // For a few pages it takes longer to read what is remembered.
    const readItems = begun.mode === 'full' ? begun.stage.readItems : undefined;
    this.#getPage = pageGetter(run.source, run.list, begun.paging, readItems);
  }

  /** Asks for the pages of a batch. `answers` takes what they say, so that nothing is lost that came before an error. */
  async answer({ pages, stop, again, mayRecall, isPart }: Batch, answers: Answer[]): Promise<void> {
    const { source, observer, list, signal } = this.#run;
    if (again !== null) {
      this.found = { ...this.found, readings: this.found.readings + 1 };
      this.#done = 0;
      observer.readAgain(list, sentencesOf(again) ?? '');
    }
    const left = [...pages];
    const queue = new PageQueue((ask, either) => this.#fetch(ask, either), signal);
    let isOver = false;
    const take = (answer: Answer) => {
      answers.push(answer);
      this.#failed.noteRecords(answer, answer.page.count);
      this.#done += answer.page.count;
      isOver ||= stop(answer);
    };
    const send = () => {
      while (!isOver && left.length > 0 && queue.size < source.concurrency) {
        const at = this.#run.nowMs();
        const ask = { ...(left.shift() as Ask), asked: ++this.#logicalClock, at, isRecalled: false };
        const older = mayRecall ? this.found.stage.recall(ask) : null;
        const tooMany = tooManyPages(this.#run, Math.floor(ask.index / smallerTimesMax));
        if (older === null && tooMany !== null) throw tooMany;
        if (older === null) queue.send(ask);
        else take(older);
      }
    };
    try {
      for (send(); queue.size > 0; send()) {
        const [ask, fetched] = await queue.next();
        // The next request is sent before this page is processed: after a turn of the event loop it is on its way.
        send();
        await nextTurn();
        const answer = this.#enter(ask, fetched);
        take(answer);
        const total = this.found.total ?? 0;
        const pageCount = Math.max(1, Math.ceil(total / this.found.paging.pageSize));
        const pageNo = this.found.paging.firstPageNo + answer.index;
        observer.pageDone(list, { pageNo, pageCount, done: this.#done, total });
        if (mayRecall && !isOver && (isPart || left.length > 0) && this.#isPauseDue(answers))
          throw new Pause();
      }
    } catch (error) {
      // What has arrived by now was read, too.
      for (const [ask, fetched] of await queue.end(error))
        if (fetched.wrong === null) answers.push(this.#enter(ask, fetched));
      throw error;
    }
  }

  async #fetch(ask: Ask, signal: AbortSignal): Promise<Fetched> {
    const isFirst = ask.index === 0 && ask.size === this.found.paging.pageSize && ask.requestedSize === null;
    const page = isFirst ? this.#first : null;
    if (page === null) return this.#getPage(ask, signal);
    this.#first = null;
    return { page, wrong: null };
  }

  /** Stages a page that came, and says what it says. */
  #enter(ask: Asked, fetched: Fetched): Answer {
    const { page, wrong, failure, firstPage } = fetched;
    const { list, context } = this.#run;
    const { stage, paging, total } = this.found;
    if (failure !== undefined) this.#failed.add(ask, paging.firstPageNo + ask.index, failure);
    if (firstPage !== undefined) stage.enter(firstPage, { index: 0, size: ask.size }, ask.asked);
    const isAgain = page !== null && stage.pages.has(page.digest);
    const read = page === null ? null : stage.enter(page, ask, ask.asked);
    if (read !== null) this.#failed.noteRecords(ask, read.page.count);
    const before = { arrived: ++this.#logicalClock, total: total ?? 0 };
    const answer = answerOf(ask, { page, wrong, read }, paging, before);
    if (page !== null) this.found = { ...this.found, total: answer.total };
    seePage(context.facts, list, paging, answer, fetched, { count: read?.page.count ?? 0, isAgain });
    return answer;
  }

  /** Whether the reading has got further than the one before it, and took long enough. */
  #isPauseDue(answers: readonly Answer[]): boolean {
    const { saveEveryMs, nowMs, begunAtMs } = this.#run;
    if (saveEveryMs === 0 || nowMs() - begunAtMs < saveEveryMs) return false;
    return answers.some(
      ({ isRecalled, wrong, page, size }) => !isRecalled && wrong === null && page.count >= size,
    );
  }
}

type GetPage = ReturnType<typeof pageGetter>;
type Arrived = readonly [Asked, Fetched];

/** The requests that are on their way; `signal` ends all of them. */
class PageQueue {
  readonly #get: GetPage;
  readonly #signal: AbortSignal;
  readonly #ended = new AbortController();
  readonly #inFlight = new Map<Asked, Promise<Arrived>>();

  constructor(get: GetPage, signal: AbortSignal) {
    [this.#get, this.#signal] = [get, signal];
  }

  get size(): number {
    return this.#inFlight.size;
  }

  send(ask: Asked): void {
    const either = AbortSignal.any([this.#signal, this.#ended.signal]);
    const request = this.#get(ask, either).then((fetched): Arrived => [ask, fetched]);
    // It can fail while another page is entered, when nobody waits for it.
    request.catch(() => undefined);
    this.#inFlight.set(ask, request);
  }

  /** The page that comes first. Throws if one can't come, or if the run has ended. */
  async next(): Promise<Arrived> {
    const arrived = await Promise.race(this.#inFlight.values());
    this.#signal.throwIfAborted();
    this.#inFlight.delete(arrived[0]);
    return arrived;
  }

  /** Ends all requests, and returns what has arrived by now. */
  async end(reason: unknown): Promise<readonly Arrived[]> {
    this.#ended.abort(reason);
    const settled = await Promise.allSettled(this.#inFlight.values());
    return settled.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
  }
}
