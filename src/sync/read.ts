import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import type { Page, PageSource } from '../contract/page.ts';
import { CancelledError, ServiceError } from '../errors.ts';
import { sentencesOf } from '../findings.ts';
import type { Finding } from '../proof/findings.ts';
import { type Asking, type Batch, EndedEarly, type Question, type Reply } from '../proof/questions.ts';
import type { RemovalGuard } from '../proof/removal.ts';
import { type Answer, type Ask, beginOf, joinPages, type PageAddress, reachOf } from '../proof/window.ts';
import { lostMax } from '../proof/witnesses.ts';
import type { ListOutcome } from '../store/tables/run.ts';
import type { SqliteMirror } from '../store/write/mirror.ts';
import { missingRows } from '../store/write/plan.ts';
import type { Stage } from '../store/write/stage.ts';
import { type Fetched, isLastWithOrphans, type Paging, pageGetter, wrongSize } from './pages.ts';

/** Called with the progress of a list in a run; for progress bars and logs. */
export interface ListObserver {
  listStarted(list: ListDefinition): void;
  walkStarted(list: ListDefinition, walk: number, pageCount: number): void;
  /** `done` are the records of this reading so far. They can be more than the total, because pages overlap. */
  pageDone(list: ListDefinition, page: Record<'pageNo' | 'pageCount' | 'done' | 'total', number>): void;
  walkAgain(list: ListDefinition, reason: string): void;
  listEnded(list: ListDefinition, outcome: ListOutcome): void;
}

/** How to read each list, and how much of it can be removed. */
export interface ListOptions {
  /** The `pageSize` to ask for; null finds the largest that works. */
  readonly pageSize: number | null;
  readonly pagesMax: number;
  readonly removals: RemovalGuard;
  /** The most time between full syncs, in milliseconds; 0 makes every sync full. */
  readonly fullEveryMs: number;
  /** Whether a reading that ended early is not gone on with. */
  readonly isAfresh: boolean;
  /** A full reading by key pauses after so many milliseconds, so that what it has read is written; 0: never. */
  readonly saveEveryMs: number;
  /** For each list the names of fields beside the contract whose changes do not count, in order; none if it is left out. */
  readonly ignoreFields?: Readonly<Partial<Record<ResourceName, readonly string[]>>>;
}

/** What the lists of a run have in common. */
export interface RunWorld {
  readonly source: PageSource;
  readonly mirror: SqliteMirror;
  readonly clock: () => Date;
  readonly observer: ListObserver;
  /** Aborted with a `CancelledError` to end the run early. */
  readonly signal: AbortSignal;
}

/** One list's part of a run. */
export interface ListTask extends RunWorld, ListOptions {
  readonly list: ListDefinition;
}

/** The facts about a list's readings, however it ends. */
export interface ListProgress {
  mode: 'full' | 'incremental';
  /** Null until the first page came. */
  paging: Paging | null;
  /** The newest total. */
  total: number | null;
  /** How many readings were begun. */
  walks: number;
  /** When the list was begun, in milliseconds since 1970, and the time since then by a clock that nobody sets. */
  readonly begunAtMs: number;
  readonly nowMs: () => number;
  /** Null until the list is read. */
  stage: Stage | null;
  /** What ended the reading early; null if nothing did. */
  endedBy: ServiceError | CancelledError | Pause | null;
}

/** A reading ends itself, so that what it has read is written. */
export class Pause extends Error {}

/** At most this many pages of a list can fail for good; the rest is then read all the same. */
const failedPagesMax = 5;
/** Pages of a reading can be smaller than the list's own, but at most this many times. */
const sizesMax = 4;
const noItems = joinPages([], 'id');

type Asked = Ask & Pick<Answer, 'asked' | 'at' | 'isRecalled'>;

/**
 * Drives a proof: asks for its pages, a few at a time, stages what comes, and tells it the answers, of which `first` came before. If the
 * run is cancelled or no page comes, a full reading concludes from what came, and an incremental one throws.
 */
export async function drive<Result>(
  asking: Asking<Result>,
  task: ListTask & { readonly progress: ListProgress },
  first: Page | null,
): Promise<Result> {
  const { list, progress, source, signal, observer } = task;
  const paging = progress.paging as Paging;
  const stage = progress.stage as Stage;
  const { firstPageNo, pageSize } = paging;
  const failed: PageAddress[] = [];
  let [unused, tick, done] = [first, 0, 0];
  /** Where the furthest page ends that came. */
  let reached = 0;
  // For a few pages it takes longer to read what is remembered.
  const isKnown = (digest: string) => progress.mode === 'full' && stage.recall(digest);
  const getPage = pageGetter(source, list, paging, isKnown);

  let step = asking.next();
  while (step.done !== true) {
    if (step.value.kind !== 'pages') {
      step = asking.next(knownTo(stage, step.value));
      continue;
    }
    const answers: Answer[] = [];
    const error = await answersTo(step.value, answers).catch((thrown: unknown) => thrown);
    const endsReading = [ServiceError, CancelledError, Pause].some(kind => error instanceof kind);
    if (error !== undefined && !(endsReading && progress.mode === 'full')) throw error;
    progress.endedBy = (error ?? null) as ListProgress['endedBy'];
    step =
      error === undefined ? asking.next({ kind: 'pages', answers }) : asking.throw(endedBy(error, answers));
  }
  return step.value;

  function endedBy(error: unknown, answers: readonly Answer[]): EndedEarly {
    const [records, isPaused] = [stage.seenCount, error instanceof Pause];
    const { total } = progress;
    return new EndedEarly({ code: 'ended_early', records, total, isPaused, goesOn: false }, answers);
  }

  /** Whether the reading has got further than the one before it, and took long enough. */
  function isPauseDue(answers: readonly Answer[]): boolean {
    const { saveEveryMs } = task;
    if (saveEveryMs === 0 || progress.nowMs() - progress.begunAtMs < saveEveryMs) return false;
    return answers.some(
      ({ isRecalled, wrong, page, size }) => !isRecalled && wrong === null && page.count >= size,
    );
  }

  /** @param answers takes them, so that none is lost that came before an error. */
  async function answersTo(
    { pages, stop, again, mayRecall, isPart }: Batch,
    answers: Answer[],
  ): Promise<void> {
    if (again !== null) {
      progress.walks++;
      done = 0;
      observer.walkAgain(list, sentencesOf(again) ?? '');
    }
    const reading = new AbortController();
    const either = AbortSignal.any([signal, reading.signal]);
    const left = [...pages];
    const inFlight = new Map<Asked, Promise<readonly [Asked, Fetched]>>();
    let isOver = false;
    const send = () => {
      while (!isOver && left.length > 0 && inFlight.size < source.concurrency) {
        const ask = { ...(left.shift() as Ask), asked: ++tick, at: progress.nowMs(), isRecalled: false };
        const older = mayRecall ? stage.acceptOlder(ask) : null;
        if (older !== null) {
          reached = Math.max(reached, beginOf(ask) + older.page.count);
          answers.push(older);
          done += older.page.count;
          isOver ||= stop(older);
          continue;
        }
        assertPagesMax(task, Math.floor(ask.index / sizesMax));
        const request = fetch(ask, either).then(fetched => [ask, fetched] as const);
        // It can fail while another page is entered, when nobody waits for it.
        request.catch(() => undefined);
        inFlight.set(ask, request);
      }
    };
    try {
      for (send(); inFlight.size > 0; send()) {
        const [ask, fetched] = await Promise.race(inFlight.values());
        signal.throwIfAborted();
        inFlight.delete(ask);
        // The next request is sent before this page is processed: after a turn of the event loop it is on its way.
        send();
        await nextTurn();
        const answer = enter(ask, fetched);
        answers.push(answer);
        done += answer.page.count;
        isOver ||= stop(answer);
        const total = progress.total ?? 0;
        const pageCount = Math.max(1, Math.ceil(total / pageSize));
        observer.pageDone(list, { pageNo: firstPageNo + answer.index, pageCount, done, total });
        if (mayRecall && !isOver && (isPart || left.length > 0) && isPauseDue(answers)) throw new Pause();
      }
    } catch (error) {
      // What has arrived by now was read, too.
      reading.abort(error);
      for (const settled of await Promise.allSettled(inFlight.values()))
        if (settled.status === 'fulfilled' && settled.value[1].wrong === null)
          answers.push(enter(...settled.value));
      throw error;
    } finally {
      reading.abort(new Error('The reading has ended.'));
      await Promise.allSettled(inFlight.values());
    }
  }

  async function fetch(ask: Ask, either: AbortSignal): Promise<Fetched> {
    const page = unused;
    if (page === null || ask.index > 0 || ask.size !== pageSize || ask.sent !== null)
      return getPage(ask, either);
    unused = null;
    return { page, wrong: null };
  }

  function enter(ask: Asked, { page, wrong, failure }: Fetched): Answer {
    const at = ask.at - (page?.ageMs ?? 0);
    const none = {
      ...ask,
      at,
      arrived: ++tick,
      total: progress.total ?? 0,
      pageCount: page?.pagination.pageCount ?? null,
      page: noItems,
      oldestNewKeys: [],
    };
    if (failure !== undefined) noteFailed(ask, failure);
    if (page === null) return { ...none, wrong };
    const { pagination } = page;
    const read = stage.accept(page, ask, ask.asked);
    const { count } = read.page;
    if (count > 0) reached = Math.max(reached, beginOf(ask) + count);
    // Past the end some services answer with a total of zero.
    const isBlank = ask.index > 0 && count === 0 && pagination.totalRecordCount === 0;
    const total = isBlank ? none.total : pagination.totalRecordCount;
    progress.total = total;
    const pageNo = firstPageNo + ask.index;
    const isAsked = pagination.pageNo === pageNo; // guard: pageNo of the answer
    if (!isAsked) {
      // If a page that is not full is repeated, the list might have ended, and its total might be too high.
      const isOther = beginOf(ask) < total && count >= ask.size && !isLastWithOrphans(page, firstPageNo);
      const finding: Finding = {
        code: 'page_number_ignored',
        asked: pageNo,
        answered: pagination.pageNo,
      };
      return { ...none, total, wrong: isOther ? { kind: 'page', finding } : null };
    }
    const isOwn = ask.size === pageSize && ask.sent === null;
    // A size that is ignored in silence is stated as it was asked for.
    const isStated = pagination.pageSize === ask.size || pagination.pageSize === ask.sent;
    // The last page can have a few records more, which would be alone on the next one. Its total can be of another moment.
    const isLast =
      pagination.pageCount === ask.index + 1 && Math.abs(beginOf(ask) + count - total) <= lostMax;
    const isOtherSize = !isOwn && (!isStated || (count > ask.size && !isLast)); // guard: size of the answer
    if (isOtherSize) return { ...none, total, wrong: wrongSize(ask.sent ?? ask.size, pagination.pageSize) };
    return { ...none, ...read, total, wrong: null };
  }

  /** Pages around one that fails can fail with it; others are too many at last. */
  function noteFailed(page: PageAddress, { message: answer }: ServiceError): void {
    const overlaps = (other: PageAddress) => beginOf(page) < reachOf(other) && beginOf(other) < reachOf(page);
    if (failed.some(overlaps)) return;
    failed.push(page);
    const isLimit = failed.every(each => reachOf(each) > reached);
    const why = `page ${firstPageNo + page.index} (${page.size} a page) can't be read: ${answer}`;
    const message = isLimit
      ? `no page beyond record ${reached} can be read, so the service seems to have a limit of results, which only those who run it can raise: ${why}`
      : `more than ${failedPagesMax} pages can't be read: ${why}`;
    if (failed.length > failedPagesMax) throw new ServiceError('server_error', message, { retryable: false });
  }
}

/** What the mirror knows of the records that have come. */
function knownTo(stage: Stage, question: Exclude<Question, Batch>): Reply {
  if (question.kind === 'added') return { kind: 'added', count: stage.reconciliation.added };
  stage.join(question.joined);
  return { kind: 'unshown', rows: missingRows(stage) };
}

/** @throws ServiceError if a list has more pages than are allowed. */
export function assertPagesMax({ list, pagesMax }: Pick<ListTask, 'list' | 'pagesMax'>, pages: number): void {
  if (pages <= pagesMax) return;
  const message = `${list.resource} has ${pages} pages, but no more than ${pagesMax} are read. If that is right, set DOCMIRROR_MAX_PAGES or --max-pages.`;
  throw new ServiceError('too_many_pages', message, { retryable: false });
}
