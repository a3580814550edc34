// One page of a reading: by which number and size it is asked for, why there is none, and what it says of the list and of the service.

import type { ListDefinition } from '../contract/lists.ts';
import type { Page, PageSource, ReadItems } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import {
  type Answer,
  type Ask,
  beginOf,
  type PageAddress,
  type PageProblem,
  reachOf,
} from '../proof/answers.ts';
import type { Finding } from '../proof/findings.ts';
import { mergePages } from '../proof/page-items.ts';
import { lostMax } from '../proof/witnesses.ts';
import type { FactsSeen } from '../store/write/facts.ts';

/** How the pages of a list are asked for. */
export interface Paging {
  readonly firstPageNo: number;
  /** How many records a full page has: the greatest size that the service serves. */
  readonly pageSize: number;
  /** As the first page says. */
  readonly pageCount: number;
  /** Whether to send the page size; not if the service refused the requested one, and sent pages of its default. */
  readonly sendsServedSize: boolean;
  /** Whether the service refuses each size that is sent, even its default. */
  readonly isOnlySize: boolean;
}

/** A page that came; or none, because the list has none there, or for a reason. `failure` is that of a page that fails for good. */
export interface Fetched {
  readonly page: Page | null;
  readonly wrong: PageProblem | null;
  readonly failure?: ServiceError;
  /** The status of a refusal by which there is none at this address; null if an answer without items said so. */
  readonly refusedWith?: number | null;
  /** The first page, if it was asked for to explain this one: what it shows was read, too. */
  readonly firstPage?: Page;
}

/** How often a page is asked for that the service fails to make, before it is looked whether the service answers at all. */
const triesOfOne = 4;
/** Why a page of another size says nothing. */
const wrongSize = (asked: number, served: number | null): PageProblem => ({
  kind: 'size',
  finding: { code: 'page_size_ignored', asked, served },
});

const noPage: Fetched = { page: null, wrong: null };
const noSize = ({ requestedSize, size }: Ask): Fetched => ({
  page: null,
  wrong: wrongSize(requestedSize ?? size, null),
});

/** Makes a function that gets a page, or finds out why there is none. It throws a ServiceError if more than this page is refused. */
export function pageGetter(
  source: PageSource,
  list: ListDefinition,
  paging: Paging,
  readItems?: ReadItems,
): (ask: Ask, signal: AbortSignal) => Promise<Fetched> {
  const { pageSize, isOnlySize } = paging;
  const request = pageRequester(source, list, paging, readItems);

  return async (ask, signal) => {
    if (isOnlySize && (ask.requestedSize ?? ask.size) !== pageSize) return noSize(ask);
    try {
      return { page: await request(ask, signal, triesOfOne), wrong: null };
    } catch (error) {
      if (isRefusal(error)) {
        // A service that knows no other size says so twice; a page can also be missing for a moment.
        const again = ask.requestedSize !== null && error.code === 'not_found';
        const page = again ? await request(ask, signal).catch(unlessRefused) : null;
        if (page !== null) return { page, wrong: null };
        if (ask.requestedSize !== null) return noSize(ask);
        if (ask.isBeyond) return { ...noPage, refusedWith: error.status };
      } else if (!(error instanceof ServiceError) || error.code !== 'server_error') throw error;
      return await findOutWhy(ask, error, signal);
    }
  };

  /** The list might have become shorter, the service might not serve that size, or this one page fails: its first page tells. */
  async function findOutWhy(ask: Ask, error: ServiceError, signal: AbortSignal): Promise<Fetched> {
    const isOwnSize = ask.size === pageSize;
    if (ask.index === 0 && isOwnSize) throw error;
    const first = { ...ask, index: 0, requestedSize: null, isBeyond: false };
    const firstPage = await request(first, signal).catch(isOwnSize ? undefined : unlessRefused);
    if (firstPage === null) return noSize(ask);
    const isPast = beginOf(ask) >= firstPage.pagination.totalRecordCount;
    if (isRefusal(error) && (isPast || error.code === 'not_found'))
      return { ...noPage, firstPage, refusedWith: error.status };
    if (error.isBare && !isOwnSize) return { ...noSize(ask), firstPage };
    if (error.isBare) throw error;
    // The service answers: it might have failed for a while, or this page fails for good.
    try {
      return { page: await request(ask, signal, triesOfOne), wrong: null };
    } catch (again) {
      const isOfPage = again instanceof ServiceError && ['server_error', 'refused'].includes(again.code);
      if (!isOfPage) throw again;
      const pages = [Math.floor(beginOf(ask) / pageSize) + 1];
      const finding: Finding = { code: 'page_failed', pages, count: 1, pageSize };
      return { page: null, wrong: { kind: 'failed', finding }, failure: again, firstPage };
    }
  }
}

/** Makes a function that asks for a page, again by another number if the answers count their pages higher than requests. */
function pageRequester(
  source: PageSource,
  list: ListDefinition,
  { firstPageNo, pageSize, sendsServedSize }: Paging,
  readItems?: ReadItems,
): (ask: Ask, signal: AbortSignal, triesMax?: number) => Promise<Page> {
  /** By how much answers count their pages higher than requests: some services count from 1 and answer from 0. */
  let ahead = 0;
  return async (ask, signal, triesMax) => {
    const { index, size, requestedSize, isBeyond } = ask;
    const pageNo = firstPageNo + index;
    const sentSize = requestedSize ?? (sendsServedSize || size !== pageSize ? size : null);
    const get = (by: number) => {
      // Answers might count the first page by a number at which the service has none.
      const asked = index === 0 ? null : pageNo - by;
      const wanted = {
        pageNo: asked,
        pageSize: sentSize,
        isBeyond,
        ...(readItems && { readItems }),
        ...(triesMax !== undefined && { triesMax }),
      };
      return source.getPage(list, wanted, signal);
    };
    const before = ahead;
    const page = await get(before);
    const other = page.pagination.pageNo - pageNo;
    const isLast = isLastAgain(page, ask, other) || (other < 0 && isLastWithOrphans(page, firstPageNo));
    if (other === 0 || index === 0 || isLast) return page;
    const again = await get(before + other);
    if (again.pagination.pageNo !== pageNo) return page;
    ahead = before + other;
    return again;
  };
}

/** Whether a page of another number is the last one, which some services repeat past the end. */
function isLastAgain({ pagination, items }: Page, ask: Ask, other: number): boolean {
  const isPast = beginOf(ask) >= pagination.totalRecordCount;
  return isPast || (other < 0 && items !== null && items.length < ask.size);
}

/** Whether a page says that it is the last one, and has the few records of the next one, too. Some services repeat it past the end. */
function isLastWithOrphans({ pagination }: Pick<Page, 'pagination'>, firstPageNo: number): boolean {
  const { pageNo, pageSize, pageCount, totalRecordCount } = pagination;
  return pageNo === firstPageNo + pageCount - 1 && pageCount * pageSize < totalRecordCount; // guard: a last page with orphans comes again
}

function unlessRefused(error: unknown): null {
  if (isRefusal(error)) return null;
  throw error;
}

/** Whether the service answers, but not with a page at this address or of this size. */
export function isRefusal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false;
  return error.code === 'not_found' || error.code === 'refused' || error.isBare;
}

/** A page that was asked for: when, by the counter of the run and by the clock. */
export type Asked = Ask & Pick<Answer, 'asked' | 'at' | 'isRecalled'>;

/** What came for a page, and what the stage has read of it; null if no page came. */
interface Received extends Pick<Fetched, 'wrong'> {
  readonly page: Pick<Page, 'pagination' | 'ageMs'> | null;
  readonly read: Pick<Answer, 'page' | 'oldestNewKeys'> | null;
}

const nothing = { page: mergePages([], 'id'), oldestNewKeys: [] };

/** Makes an answer of what came: it says what the page says, unless the page is another one than was asked for. */
export function answerOf(
  ask: Asked,
  { page, wrong, read }: Received,
  { firstPageNo, pageSize }: Pick<Paging, 'firstPageNo' | 'pageSize'>,
  { arrived, total: totalBefore }: Pick<Answer, 'arrived' | 'total'>,
): Answer {
  const at = ask.at - (page?.ageMs ?? 0);
  const pageCount = page?.pagination.pageCount ?? null;
  const none = { ...ask, at, arrived, total: totalBefore, pageCount, ...nothing };
  if (page === null || read === null) return { ...none, wrong };
  const { pagination } = page;
  const { count } = read.page;
  // Past the end some services answer with a total of zero.
  const isBlank = ask.index > 0 && count === 0 && pagination.totalRecordCount === 0;
  const total = isBlank ? totalBefore : pagination.totalRecordCount;
  const pageNo = firstPageNo + ask.index;
  const isAsked = pagination.pageNo === pageNo; // guard: pageNo of the answer
  if (!isAsked) {
    // If a page that is not full is repeated, the list might have ended, and its total might be too high.
    const isOther = beginOf(ask) < total && count >= ask.size && !isLastWithOrphans(page, firstPageNo);
    const finding: Finding = { code: 'page_number_ignored', asked: pageNo, answered: pagination.pageNo };
    return { ...none, total, wrong: isOther ? { kind: 'page', finding } : null };
  }
  const isOwn = ask.size === pageSize && ask.requestedSize === null;
  // A size that is ignored in silence is stated as it was asked for.
  const isStated = pagination.pageSize === ask.size || pagination.pageSize === ask.requestedSize;
  // The last page can have a few records more, which would be alone on the next one. Its total can be of another moment.
  const isLast = pagination.pageCount === ask.index + 1 && Math.abs(beginOf(ask) + count - total) <= lostMax;
  const isOtherSize = !isOwn && (!isStated || (count > ask.size && !isLast)); // guard: size of the answer
  if (isOtherSize)
    return { ...none, total, wrong: wrongSize(ask.requestedSize ?? ask.size, pagination.pageSize) };
  return { ...none, ...read, total, wrong: null };
}

/** Notes what the service shows of itself by what came for a page of a reading, which has `count` records; `isAgain` if an earlier page had them. */
export function seePage(
  facts: FactsSeen,
  { resource }: ListDefinition,
  { firstPageNo }: Paging,
  { index, size, total }: Pick<Answer, 'index' | 'size' | 'total'>,
  { page, refusedWith = null }: Fetched,
  { count, isAgain }: { readonly count: number; readonly isAgain: boolean },
): void {
  const isAsked = page?.pagination.pageNo === firstPageNo + index;
  const beyond = count - (page?.pagination.pageSize ?? count);
  if (page !== null && isAsked && beyond > 0 && isLastWithOrphans(page, firstPageNo))
    facts.see(resource, 'orphans', beyond);
  if (index === 0 || total === 0 || index * size < total || (page ?? refusedWith) === null) return;
  const again = isAgain || !isAsked ? 'last page again' : 'other page';
  const what = page === null ? String(refusedWith) : count === 0 ? 'empty' : again;
  facts.see(resource, 'beyond_end', what);
  if (total % size === 0) facts.see(resource, 'beyond_full_end', what);
}

/** The error of a list that has more pages than are allowed; null if it has not. */
export function tooManyPages(
  { list, pagesMax }: { readonly list: ListDefinition; readonly pagesMax: number },
  pages: number,
) {
  if (pages <= pagesMax) return null;
  const message = `${list.resource} has ${pages} pages, but no more than ${pagesMax} are read. If that is right, set DOCMIRROR_MAX_PAGES or --max-pages.`;
  return new ServiceError('too_many_pages', message, { retryable: false });
}

/** At most this many pages of a list can fail for good; the rest is then read all the same. */
const failedPagesMax = 5;

/** The pages of a reading that fail for good. */
export class FailedPages {
  readonly #failed: PageAddress[] = [];
  /** The place after the furthest record that came. */
  #reached = 0;

  /** Notes that `count` records came from a page. */
  noteRecords(page: PageAddress, count: number): void {
    if (count > 0) this.#reached = Math.max(this.#reached, beginOf(page) + count);
  }

  /** Notes a page that fails. Those around it can fail with it; others are too many at last. @throws ServiceError */
  add(page: PageAddress, pageNo: number, { message: answer }: ServiceError): void {
    const overlaps = (other: PageAddress) => beginOf(page) < reachOf(other) && beginOf(other) < reachOf(page);
    if (this.#failed.some(overlaps)) return;
    this.#failed.push(page);
    if (this.#failed.length <= failedPagesMax) return;
    const why = `page ${pageNo} (${page.size} a page) can't be read: ${answer}`;
    const isLimit = this.#failed.every(each => reachOf(each) > this.#reached);
    const message = isLimit
      ? `no page beyond record ${this.#reached} can be read, so the service seems to have a limit of results, which only those who run it can raise: ${why}`
      : `more than ${failedPagesMax} pages can't be read: ${why}`;
    throw new ServiceError('server_error', message, { retryable: false });
  }
}
