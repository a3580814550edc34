// One page of a reading: by which number and size it is asked for, and why there is none.

import type { ListDefinition } from '../contract/lists.ts';
import type { Page, PageSource, ReadItems } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { Finding } from '../proof/findings.ts';
import { type Ask, beginOf, type PageProblem } from '../proof/window.ts';

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
  readonly head?: Page;
}

/** How often a page is asked for that the service fails to make, before it is looked whether the service answers at all. */
const triesOfOne = 4;
/** Why a page of another size says nothing. */
export const wrongSize = (asked: number, served: number | null): PageProblem => ({
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
      return await explain(ask, error, signal);
    }
  };

  /** The list might have become shorter, the service might not serve that size, or this one page fails: its first page tells. */
  async function explain(ask: Ask, error: ServiceError, signal: AbortSignal): Promise<Fetched> {
    const isOwnSize = ask.size === pageSize;
    if (ask.index === 0 && isOwnSize) throw error;
    const first = { ...ask, index: 0, requestedSize: null, isBeyond: false };
    const head = await request(first, signal).catch(isOwnSize ? undefined : unlessRefused);
    if (head === null) return noSize(ask);
    const isPast = beginOf(ask) >= head.pagination.totalRecordCount;
    if (isRefusal(error) && (isPast || error.code === 'not_found'))
      return { ...noPage, head, refusedWith: error.status };
    if (error.isBare && !isOwnSize) return { ...noSize(ask), head };
    if (error.isBare) throw error;
    // The service answers: it might have failed for a while, or this page fails for good.
    try {
      return { page: await request(ask, signal, triesOfOne), wrong: null };
    } catch (again) {
      const isOfPage = again instanceof ServiceError && ['server_error', 'refused'].includes(again.code);
      if (!isOfPage) throw again;
      const pages = [Math.floor(beginOf(ask) / pageSize) + 1];
      const finding: Finding = { code: 'page_failed', pages, count: 1, pageSize };
      return { page: null, wrong: { kind: 'failed', finding }, failure: again, head };
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
    const tries = triesMax === undefined ? {} : { triesMax };
    const get = (by: number) => {
      // Answers might count the first page by a number at which the service has none.
      const asked = index === 0 ? null : pageNo - by;
      const wanted = {
        pageNo: asked,
        pageSize: sentSize,
        isBeyond,
        ...(readItems && { readItems }),
        ...tries,
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
export function isLastWithOrphans({ pagination }: Pick<Page, 'pagination'>, firstPageNo: number): boolean {
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
