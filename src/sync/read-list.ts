import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { Answer } from '../proof/answer.ts';
import { isEndOpen } from '../proof/end.ts';
import type { Envelope } from '../proof/envelope.ts';
import { type FinishedWalk, finishWalk, sizeOf } from '../proof/finished-walk.ts';
import { confirmGrowth, type Growth } from '../proof/growth.ts';
import type { Asked } from '../proof/page-plan.ts';
import { judge, judgeEnd, judgeRefuted, type NextWalk, type Verdict } from '../proof/verdict.ts';
import { WalkAccount } from '../proof/walk-account.ts';
import type { OpenList } from './list-task.ts';
import { type FirstPage, getFirstPage, pageSizeAtFirst, pagesStated } from './page-size.ts';
import type { ListMirror } from './ports.ts';
import { probeEnd } from './read-end.ts';
import { type PageRequests, walkPages } from './walk.ts';

/** A walk with every page of it that came with records in this run. */
export interface ReadWalk extends FinishedWalk {
  readonly pages: readonly Answer[];
  /** Pages that came beside it: those by which its size was found, and those of a growth that was read again. */
  readonly others: readonly Answer[];
}

/** What reading a list has come to so far; it is told also of a list that fails. */
export interface Reading {
  readonly walks: ReadWalk[];
  walksBegun: number;
}

/** What reading a list came to in the end. */
export type Proof = Exclude<Verdict, { readonly kind: 'again' | 'confirm' }>;

/**
 * Walks a list until the walks come to a verdict. The bound on walks is the verdict's.
 *
 * @param isTrusting whether the first walk may leave pages unread that are known from the last proven sweep.
 * @throws ServiceError when a page can't be had, or the list has more pages than are allowed.
 */
export async function readList(task: OpenList, reading: Reading, isTrusting: boolean): Promise<Proof> {
  const { standing, itemsOf } = task.listMirror;
  const requestsBefore = task.source.traffic.requests;
  const walks: ReadWalk[] = [];
  let next: NextWalk = { isTrusting, pageSizes: [] };
  let isSizeFixed = false;
  for (;;) {
    const first = await firstPageOf(task, walks, next);
    reading.walksBegun++;
    const numbers = { number: walks.length + 1, numberInRun: reading.walksBegun };
    // Smaller pages than the list's own, which are this program's wish, may be more of them.
    const share = walks[0] === undefined ? 1 : sizeOf(walks[0]) / first.envelope.pageSize;
    const bounded = { ...task, pagesMax: Math.ceil(task.pagesMax * Math.max(1, share)) };
    const { account, pages, others, isTakenUp } = await readWalk(bounded, first, next.isTrusting, numbers);
    const manner = { isTrusting: next.isTrusting, isTakenUp };
    const walk = { ...finishWalk(account, manner, itemsOf, walks), pages, others };
    const isOneBefore = isSizeOf(walks);
    isSizeFixed ||= next.pageSizes.some(size => !isOneBefore(size)) && isOneBefore(sizeOf(walk));
    walks.push(walk);
    reading.walks.push(walk);
    const bounds = { requests: task.source.traffic.requests - requestsBefore, isSizeFixed };
    let verdict = judge(walks, standing, bounds, itemsOf);
    if (verdict.kind === 'confirm') {
      if (verdict.growth.places.from === 0) reading.walksBegun++;
      const isConfirmed = await readGrowthAgain(task, first, verdict.growth, others);
      if (isConfirmed) verdict = { kind: 'proven', changed: verdict.changed };
      else verdict = judgeRefuted(walks, standing, bounds);
    }
    if (verdict.kind === 'proven' && isEndOpen(walks, itemsOf)) {
      const probe = await probeEnd({ ...requestsOf(task, first, false), isKnown: () => false }, account);
      verdict = judgeEnd(walks, probe, standing, bounds) ?? verdict;
    }
    if (verdict.kind !== 'again') return verdict;
    task.observer.walkAgain(task.list, verdict.reason);
    next = verdict.next;
  }
}

/** The first page of the next walk: by a size that no walk before had, if the service serves one of those that are wished for. */
async function firstPageOf(
  task: OpenList,
  walks: readonly FinishedWalk[],
  { pageSizes }: NextWalk,
): Promise<FirstPage> {
  const usual = walks[0] === undefined ? (task.pageSize ?? pageSizeAtFirst) : sizeOf(walks[0]);
  const [wanted = usual, ...others] = pageSizes;
  const isOneBefore = isSizeOf(walks);
  let first = await getFirstPage(task.source, task.list, wanted, task.signal);
  for (const size of others) {
    if (!isOneBefore(first.envelope.pageSize)) break;
    const other = await getFirstPage(task.source, task.list, size, task.signal);
    first = { ...other, tried: [...first.tried, first.page, ...other.tried] };
  }
  return first;
}

function isSizeOf(walks: readonly FinishedWalk[]): (size: number) => boolean {
  return size => walks.some(walk => sizeOf(walk) === size);
}

/** One walk, from its first page to the proof of its end; it has a number among those that may agree, and one in the whole run. */
async function readWalk(
  task: OpenList,
  first: FirstPage,
  isTrusting: boolean,
  { number, numberInRun }: { number: number; numberInRun: number },
): Promise<{ account: WalkAccount; pages: readonly Answer[]; others: Answer[]; isTakenUp: boolean }> {
  const { list, observer, listMirror } = task;
  const { envelope } = first;
  const account = new WalkAccount(envelope, listMirror.standing.counting, listMirror.itemsOf);
  const pages: Answer[] = [];
  const taken = listMirror.beginWalk(number, envelope, first.page.itemsDigest);
  for (const answer of taken) account.take(answer);
  const others = first.tried.map(page => answerOf(listMirror, page, 0, isTrusting));
  observer.walkStarted(list, numberInRun, account.pageCount, taken.length);
  const enter = (asked: Asked, page: Page | null) => {
    const answer = enterPage(account, listMirror, asked, page, isTrusting);
    if (answer === null) return;
    pages.push(answer);
    listMirror.keep(number, answer);
  };
  const askedFirst = account.askedFirst();
  const takenFirst = taken.find(({ index }) => index === 0);
  if (takenFirst === undefined) enter(askedFirst, first.page);
  else {
    account.skipFirst();
    // Of the pages that were taken up it is the one that came in this run, too.
    pages.push(takenFirst);
  }
  const next = () => withinPages(list, account, task.pagesMax);
  for await (const { asked, page } of walkPages(requestsOf(task, first, isTrusting), next)) {
    enter(asked, page);
    observer.pageDone(list, envelope.firstPageNo + asked.index, account.pageCount);
  }
  return { account, pages, others, isTakenUp: taken.length > 0 };
}

function requestsOf(
  { source, list, signal, listMirror }: OpenList,
  { envelope, asked }: FirstPage,
  isTrusting: boolean,
): PageRequests {
  const isKnown = (digest: string) => listMirror.known(digest, isTrusting) !== null;
  return { source, list, firstPageNo: envelope.firstPageNo, pageSize: asked, isKnown, signal };
}

/** The next page to ask for, as long as the list keeps to the bound on its pages. */
function withinPages({ resource }: ListDefinition, account: WalkAccount, pagesMax: number): Asked | null {
  const pages = Math.max(account.pageCount, pagesStated(account.envelope));
  const asked = pages > pagesMax ? null : account.next();
  if (pages <= pagesMax && (asked === null || asked.index <= pagesMax)) return asked;
  const stated = `${resource} has ${pages > pagesMax ? pages : 'more'} pages`;
  throw new ServiceError(
    'too_many_pages',
    `${stated}, but no more than ${pagesMax} are read. If that is right, set DOCMIRROR_MAX_PAGES or --max-pages.`,
    { retryable: false },
  );
}

/** Tells the account what came and, where it holds records, reads it; null where it holds none. */
function enterPage(
  account: WalkAccount,
  listMirror: ListMirror,
  asked: Asked,
  page: Page | null,
  isTrusting: boolean,
): Answer | null {
  if (page === null) {
    account.place(asked, null);
    return null;
  }
  const answer = answerOf(listMirror, page, asked.index, isTrusting);
  const place = account.place(asked, { ...page.pagination, ...answer });
  if (place.kind === 'nothing') return null;
  if (place.kind === 'stray') return answer;
  const entered = { ...answer, index: place.index };
  account.enter(entered);
  return entered;
}

/** What a page says, which is read if it is not known. */
function answerOf(listMirror: ListMirror, page: Page, index: number, isTrusting: boolean): Answer {
  const known = listMirror.known(page.itemsDigest, isTrusting || page.content === null);
  const { count, digest, sum, rejected } = known ?? listMirror.read(page);
  return { index, total: page.pagination.totalRecordCount, count, digest, sum, rejected };
}

/** Requests that reading a growth again may take beyond its pages: the list may grow on meanwhile. */
const growthRequestsMore = 20;

/**
 * Reads the pages of what has grown once more; false where they don't say the same. Known ones need not be parsed: they are held
 * against the walk.
 *
 * @param others gets what came.
 */
async function readGrowthAgain(
  task: OpenList,
  first: FirstPage,
  growth: Growth,
  others: Answer[],
): Promise<boolean> {
  const { listMirror } = task;
  const { firstPageNo, pageSize } = first.envelope;
  const answers: Answer[] = [];
  const requests = requestsOf(task, first, true);
  let newestTotal = growth.strip.covered;
  let requestsLeft = Number.NaN;
  for (;;) {
    const step = confirmGrowth(growth, answers, pageSize, newestTotal, listMirror.itemsOf);
    if (step.kind !== 'ask') return step.kind === 'confirmed';
    if (Number.isNaN(requestsLeft)) requestsLeft = 2 * step.indexes.length + growthRequestsMore;
    requestsLeft -= step.indexes.length;
    if (requestsLeft < 0) return false;
    const indexes = [...step.indexes];
    const next = (): Asked | null => {
      const index = indexes.shift();
      return index === undefined ? null : { index, totalBefore: newestTotal, isBeyond: false };
    };
    for await (const { asked, page } of walkPages(requests, next)) {
      const answer = page && askedPageOf(page, asked, { firstPageNo, pageSize }, listMirror);
      if (answer === null) return false;
      newestTotal = Math.max(newestTotal, answer.total);
      answers.push(answer);
      others.push(answer);
    }
  }
}

/** A page that is whole and the one that was asked for; null where it is not. */
function askedPageOf(
  page: Page,
  { index, totalBefore }: Asked,
  { firstPageNo, pageSize }: Pick<Envelope, 'firstPageNo' | 'pageSize'>,
  listMirror: ListMirror,
): Answer | null {
  const answer = answerOf(listMirror, page, index, true);
  const { count, total } = answer;
  const isDue = count > 0 && count === Math.min(pageSize, total - index * pageSize);
  const isAsked = page.pagination.pageNo === firstPageNo + index && total >= totalBefore;
  return isAsked && isDue ? answer : null;
}
