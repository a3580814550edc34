import type { ListDefinition } from '../contract/lists.ts';
import type { Page, PageSource } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { Finding } from '../proof/findings.ts';
import { type Ask, beginOf, type Wrong } from '../proof/window.ts';
import type { ServedSize } from '../store/write/memory.ts';

/** The size that `auto` asks for if nothing is known yet. */
const pageSizeAtFirst = 1000;

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

/** The first page of a list, and what it says of the others. */
export interface FirstPage extends Paging {
  readonly page: Page;
  /** Pages that were read before this one to find the size. */
  readonly tried: readonly Page[];
  /** What is known by now of the sizes that the service refuses; null if nothing is. */
  readonly served: ServedSize | null;
}

/** Which size to ask for. */
export interface SizeToAskFor {
  /** The one that a person wants; null finds the largest that the service serves. */
  readonly wanted: number | null;
  /** What an earlier run found; null to try all sizes. */
  readonly served: ServedSize | null;
  readonly nowMs: number;
}

/** How long what an earlier run found counts, in milliseconds: the service might serve larger sizes by now. */
const servedMsMax = 7 * 24 * 3_600_000;

/** What an earlier run found of sizes, if it still counts: for a week, and as long as a list of so many records is on one page. */
export function stillServed(served: ServedSize | null, rowCount: number, nowMs: number): ServedSize | null {
  if (served === null || rowCount <= served.pageSize) return served; // guard: a list on one page needs no larger one
  const ageMs = nowMs - served.refusedAtMs;
  return ageMs >= 0 && ageMs < servedMsMax ? served : null; // guard: a service that serves larger pages by now
}

/** The sizes that `auto` asks for if larger pages do not come, before the service's own default. */
const smallerSizes = [250, 200, 100, 50];
/** A number below the default of the service, which a refusal names, might be no size. */
const leastSize = 50;
/** Those of a service that does not refuse a size, but fails: it would be asked too often. */
const sizesAfterFailure: ReadonlySet<number> = new Set([250, 50]);
/** How many sizes are asked for because a refusal names them. */
const namedSizesMax = 3;
/** How often a size is asked for before a smaller one is. */
const triesOfSize = 2;

/**
 * Asks for a list's first page, by smaller sizes if one is refused or fails, at last by the service's default. A default, or a size that
 * was cut silently, is then asked for by its real value, so that the service counts its pages by it.
 */
export async function getFirstPage(
  source: PageSource,
  list: ListDefinition,
  { wanted, served, nowMs }: SizeToAskFor,
  signal: AbortSignal,
): Promise<FirstPage> {
  const get = async (pageSize: number | null, tried: readonly Page[], few = {}): Promise<FirstPage> => {
    const page = await source.getPage(list, { pageNo: null, pageSize, ...few }, signal);
    const { pageNo: firstPageNo, pageCount } = page.pagination;
    asked = pageSize;
    return {
      page,
      tried,
      firstPageNo,
      pageCount,
      pageSize: sizeOf(page),
      sendsServedSize: pageSize !== null,
      isOnlySize: false,
      served: null,
    };
  };
  const refused = new Set<number>();
  /** Gets the page in the first of these sizes in which it comes, or at last in the default. */
  const largest = async (sizes: readonly number[], tried: readonly Page[], few = {}): Promise<FirstPage> => {
    const [size, ...smaller] = sizes;
    if (size === undefined) return get(null, tried);
    try {
      return await get(size, tried, few);
    } catch (error) {
      if (!isOfSize(error)) throw error;
      if (error.code === 'response_too_large' || isRefusal(error)) refused.add(size);
      else isSure = false;
      return largest(sizesAfter(error, size, smaller), tried, few);
    }
  };
  /** The sizes to ask for after one did not come, with the one that the refusal names. */
  const sizesAfter = ({ code, numbers }: ServiceError, size: number, smaller: readonly number[]) => {
    if (code !== 'refused') return smaller.filter(each => sizesAfterFailure.has(each));
    const named = numbers.find(each => each < size && each > leastSize);
    if (named === undefined || smaller.includes(named) || namedSizes++ >= namedSizesMax) return smaller;
    return [...smaller, named].sort((a, b) => b - a);
  };
  let asked: number | null = null;
  let isSure = true;
  let namedSizes = 0;
  const known = wanted === null ? served : null;
  const begun = known === null ? (wanted ?? pageSizeAtFirst) : known.isSent ? known.pageSize : null;
  const isAuto = wanted === null || wanted === pageSizeAtFirst;
  const sizes = begun === null ? [] : [begun, ...smallerSizes.filter(size => size < begun)];
  let first = isAuto ? await largest(sizes, [], { triesOfSize }) : await largest([wanted], []);
  // The service might have failed only for a moment.
  if (!isSure && first.pageSize < first.page.pagination.totalRecordCount) {
    const again = get(begun, [first.page], { triesOfSize: 1 });
    first = await again.catch((error: unknown) => {
      if (isOfSize(error)) return first;
      throw error;
    });
  }
  const found = await inItsRealSize(first);
  const isOnlySize = !found.sendsServedSize && isRefused(found.pageSize);
  const refusedNow = wanted === null && isSure && refused.size > 0;
  const servedNow = {
    pageSize: found.pageSize,
    isSent: found.sendsServedSize,
    isOnly: isOnlySize,
    refusedAtMs: nowMs,
  };
  return { ...found, isOnlySize, served: refusedNow ? servedNow : served };

  /** Whether the service has refused a size, in this run or, if it is the one of pages without a size, in an earlier one. */
  function isRefused(size: number): boolean {
    return refused.has(size) || (begun === null && known?.isOnly === true);
  }

  /** Asks for the first page by the size that it really has. */
  async function inItsRealSize(head: FirstPage): Promise<FirstPage> {
    const { pageSize, totalRecordCount } = head.page.pagination;
    // A service that refuses a size might serve smaller ones; a list on one page needs none.
    const isEnough = head.sendsServedSize
      ? head.pageSize === asked || head.pageSize === pageSize
      : head.pageSize >= totalRecordCount || isRefused(head.pageSize);
    if (isEnough) return head;
    const again = await largest([head.pageSize], [head.page]);
    // If a smaller page is not full either, pages have fewer records than they say, by any size.
    const isShorter = again.pageSize < head.pageSize && pageSize > head.pageSize;
    return isShorter ? { ...head, pageSize, tried: [again.page] } : again; // guard: pages that are shorter than they say
  }
}

/** Whether a smaller page might come. */
function isOfSize(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.isOfSize || (isRefusal(error) && !error.isBare));
}

/** The greatest number of pages that a list can have, by its total or by its own page count. */
export function pagesStated({ page, pageSize, pageCount }: FirstPage): number {
  return Math.max(pageCount, Math.ceil(page.pagination.totalRecordCount / pageSize));
}

/** How many records a full page has, at least one, by the first page's own statement and by its items. */
function sizeOf({ items, pagination }: Page): number {
  const count = items?.length ?? 0;
  const { pageSize, pageCount, totalRecordCount } = pagination;
  const isWholeList = count >= totalRecordCount;
  // A last page can have a few records more than others.
  if (count > pageSize && !(isWholeList && pageCount === 1)) return count;
  return Math.max(1, isWholeList || count === 0 ? pageSize : Math.min(pageSize, count));
}

/** A page that came; or none, because the list has none there, or for a reason. `failure` is that of a page that fails for good. */
export interface Fetched {
  readonly page: Page | null;
  readonly wrong: Wrong | null;
  readonly failure?: ServiceError;
}

/** How often a page is asked for that the service fails to make, before it is looked whether the service answers at all. */
const triesOfOne = 4;
/** Why a page of another size says nothing. */
export const wrongSize = (asked: number, served: number | null): Wrong => ({
  kind: 'size',
  finding: { code: 'page_size_ignored', asked, served },
});

const noPage: Fetched = { page: null, wrong: null };
const noSize = ({ sent, size }: Ask): Fetched => ({ page: null, wrong: wrongSize(sent ?? size, null) });

/** Makes a function that gets a page, or finds out why there is none. It throws a ServiceError if more than this page is refused. */
export function pageGetter(
  source: PageSource,
  list: ListDefinition,
  { firstPageNo, pageSize, sendsServedSize, isOnlySize }: Paging,
  isKnown: (digest: string) => boolean,
): (ask: Ask, signal: AbortSignal) => Promise<Fetched> {
  /** By how much answers count their pages higher than requests: some services count from 1 and answer from 0. */
  let ahead = 0;

  async function request(ask: Ask, signal: AbortSignal, triesMax?: number): Promise<Page> {
    const { index, size, sent, isBeyond } = ask;
    const pageNo = firstPageNo + index;
    const sentSize = sent ?? (sendsServedSize || size !== pageSize ? size : null);
    const tries = triesMax === undefined ? {} : { triesMax };
    const get = (by: number) => {
      // Answers might count the first page by a number at which the service has none.
      const asked = index === 0 ? null : pageNo - by;
      const wanted = { pageNo: asked, pageSize: sentSize, isBeyond, isKnown, ...tries };
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
  }

  return async (ask, signal) => {
    if (isOnlySize && (ask.sent ?? ask.size) !== pageSize) return noSize(ask);
    try {
      return { page: await request(ask, signal, triesOfOne), wrong: null };
    } catch (error) {
      if (isRefusal(error)) {
        // A service that knows no other size says so twice; a page can also be missing for a moment.
        if (ask.sent !== null && error.code === 'not_found') return await askAgain(ask, signal);
        if (ask.sent !== null) return noSize(ask);
        if (ask.isBeyond) return noPage;
      } else if (!(error instanceof ServiceError) || error.code !== 'server_error') throw error;
      return await explain(ask, error, signal);
    }
  };

  async function askAgain(ask: Ask, signal: AbortSignal): Promise<Fetched> {
    try {
      return { page: await request(ask, signal), wrong: null };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return noSize(ask);
    }
  }

  /** The list might have become shorter, the service might not serve that size, or this one page fails: its first page tells. */
  async function explain(ask: Ask, error: ServiceError, signal: AbortSignal): Promise<Fetched> {
    const isOwnSize = ask.size === pageSize;
    if (ask.index === 0 && isOwnSize) throw error;
    const first = { ...ask, index: 0, sent: null, isBeyond: false };
    const head = await request(first, signal).catch((other: unknown) => {
      if (isRefusal(other) && !isOwnSize) return null;
      throw other;
    });
    if (head === null) return noSize(ask);
    const isPast = beginOf(ask) >= head.pagination.totalRecordCount;
    if (isRefusal(error) && (isPast || error.code === 'not_found')) return noPage;
    if (error.isBare && !isOwnSize) return noSize(ask);
    if (error.isBare) throw error;
    // The service answers: it might have failed for a while, or this page fails for good.
    try {
      return { page: await request(ask, signal, triesOfOne), wrong: null };
    } catch (again) {
      const isOfPage = again instanceof ServiceError && ['server_error', 'refused'].includes(again.code);
      if (!isOfPage) throw again;
      const pages = [Math.floor(beginOf(ask) / pageSize) + 1];
      const finding: Finding = { code: 'page_failed', pages, count: 1, pageSize };
      return { page: null, wrong: { kind: 'failed', finding }, failure: again };
    }
  }
}

/** Whether a page of another number is the last one, which some services repeat past the end. */
function isLastAgain({ pagination, items }: Page, ask: Ask, other: number): boolean {
  const isPast = beginOf(ask) >= pagination.totalRecordCount;
  return isPast || (other < 0 && items !== null && items.length < ask.size);
}

/** Whether a page says that it is the last one, and has the few records of the next one, too. Some services repeat it past the end. */
export function isLastWithOrphans({ pagination }: Page, firstPageNo: number): boolean {
  const { pageNo, pageSize, pageCount, totalRecordCount } = pagination;
  return pageNo === firstPageNo + pageCount - 1 && pageCount * pageSize < totalRecordCount; // guard: a last page with orphans comes again
}

/** Whether the service answers, but not with a page at this address or of this size. */
function isRefusal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false;
  return error.code === 'not_found' || error.code === 'refused' || error.isBare;
}
