// The first page of a list, before a proof: the number at which pages begin, and the greatest size that the service serves.

import type { ListDefinition } from '../contract/lists.ts';
import type { Page, PageSource } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { FactsSeen } from '../store/write/facts.ts';
import type { ServedSize } from '../store/write/sync-state.ts';
import { isRefusal, type Paging } from './pages.ts';

/** The first page of a list, and what it says of the others. */
export interface FirstPage extends Paging {
  readonly page: Page;
  /** Pages that were read before this one to find the size. */
  readonly tried: readonly Page[];
  /** What is known by now of the sizes that the service refuses; null if nothing is. */
  readonly served: ServedSize | null;
  /** The size by which it was asked for; null is the service's default. */
  readonly asked: number | null;
  readonly larger: LargerSize | null;
}

/** What the greatest size got that was asked for: the size that was served instead, or the status, or the code of an error without one. */
interface LargerSize {
  readonly asked: number;
  readonly how: 'cut' | 'refused' | 'failed';
  readonly served?: number;
  readonly status?: number | null;
  readonly code?: string;
}

/** Which size to ask for. */
export interface SizeToAskFor {
  /** The one that a person wants; `auto` finds the largest that the service serves. */
  readonly wanted: number | 'auto';
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

/** The size that `auto` asks for if nothing is known yet, and those after it if larger pages do not come, before the service's default. */
const sizes = [1000, 250, 200, 100, 50];
/** A number below the default of the service, which a refusal names, might be no size. */
const leastSize = 50;
/** Those of a service that does not refuse a size, but fails: it would be asked too often. */
const sizesAfterFailure: ReadonlySet<number> = new Set([250, 50]);
const namedSizesMax = 3;
const triesOfSize = 2;

/** Gets the first page by a size; null is the service's default. */
type Get = (pageSize: number | null, tries?: { readonly triesOfSize: number }) => Promise<Page>;

/** A page that came, and what it took. */
interface Sized {
  readonly page: Page;
  /** The size that was asked for; null is the service's default. */
  readonly asked: number | null;
  /** How many records a full page has. */
  readonly pageSize: number;
  readonly tried: readonly Page[];
  /** Sizes that the service refused. */
  readonly refused: readonly number[];
  /** False if it failed with a size, which might have been only for a moment. */
  readonly isSure: boolean;
  readonly larger: LargerSize | null;
}

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
  const get: Get = (pageSize, tries) => source.getPage(list, { pageNo: null, pageSize, ...tries }, signal);
  const isAuto = wanted === 'auto';
  const toTry = isAuto ? sizesToTry(served) : [wanted];
  const isOnlyKnown = toTry.length === 0 && served?.isOnly === true;
  const came = await askBySizes(get, toTry, isAuto ? { triesOfSize } : undefined);
  const sure = await askAgain(get, toTry[0] ?? null, came);
  const found = await inItsRealSize(get, sure, isOnlyKnown);
  const { page, tried, pageSize, refused, asked } = found;
  const { pageNo: firstPageNo, pageCount } = page.pagination;
  const isOnlySize = asked === null && (isOnlyKnown || refused.includes(pageSize));
  const isRefusedNow = isAuto && found.isSure && refused.length > 0;
  const [greatest = 0] = toTry;
  const cut: LargerSize = { asked: greatest, how: 'cut', served: pageSize };
  const servedNow = { pageSize, isSent: asked !== null, isOnly: isOnlySize, refusedAtMs: nowMs };
  return {
    page,
    tried,
    firstPageNo,
    pageCount,
    pageSize,
    sendsServedSize: asked !== null,
    isOnlySize,
    served: isRefusedNow ? servedNow : served,
    asked,
    larger: found.larger ?? (greatest > pageSize ? cut : null),
  };
}

/** The sizes that `auto` asks for, the largest first; none for the service's default. */
function sizesToTry(served: ServedSize | null): readonly number[] {
  if (served === null) return sizes;
  return served.isSent ? [served.pageSize, ...sizes.filter(size => size < served.pageSize)] : [];
}

/** The page in the first of these sizes in which it comes, or at last in the default. */
async function askBySizes(get: Get, toTry: readonly number[], tries?: Parameters<Get>[1]): Promise<Sized> {
  const refused: number[] = [];
  let [left, isSure, namedSizes] = [toTry, true, 0];
  let larger: LargerSize | null = null;
  for (;;) {
    const [size = null, ...smaller] = left;
    try {
      const page = await get(size, size === null ? undefined : tries);
      return { page, asked: size, pageSize: sizeOf(page), tried: [], refused, isSure, larger };
    } catch (error) {
      if (size === null || !isOfSize(error)) throw error;
      const isRefused = error.code === 'response_too_large' || isRefusal(error);
      if (isRefused) refused.push(size);
      else isSure = false;
      const { status, code } = error;
      larger ??= { asked: size, how: isRefused ? 'refused' : 'failed', status, code };
      const named = error.numbers.find(each => each < size && each > leastSize);
      if (error.code !== 'refused') left = smaller.filter(each => sizesAfterFailure.has(each));
      else if (named === undefined || smaller.includes(named) || namedSizes++ >= namedSizesMax)
        left = smaller;
      else left = [...smaller, named].sort((a, b) => b - a);
    }
  }
}

/** The page by the size that was asked for first, if the service failed only for a moment; or the one that came. */
async function askAgain(get: Get, asked: number | null, came: Sized): Promise<Sized> {
  if (came.isSure || came.pageSize >= came.page.pagination.totalRecordCount) return came;
  try {
    const page = await get(asked, { triesOfSize: 1 });
    return { ...came, page, asked, pageSize: sizeOf(page), tried: [came.page] };
  } catch (error) {
    if (isOfSize(error)) return came;
    throw error;
  }
}

/** The page by the size that it really has. */
async function inItsRealSize(get: Get, head: Sized, isOnlyKnown: boolean): Promise<Sized> {
  const { pageSize, totalRecordCount } = head.page.pagination;
  const isRefused = isOnlyKnown || head.refused.includes(head.pageSize);
  // A service that refuses a size might serve smaller ones; a list on one page needs none.
  const isEnough =
    head.asked === null
      ? head.pageSize >= totalRecordCount || isRefused
      : head.pageSize === head.asked || head.pageSize === pageSize;
  if (isEnough) return head;
  const again = await askBySizes(get, [head.pageSize]);
  const isSure = head.isSure && again.isSure;
  const refused = [...head.refused, ...again.refused];
  const larger = head.larger ?? again.larger;
  // If a smaller page is not full either, pages have fewer records than they say, by any size.
  const isShorter = again.pageSize < head.pageSize && pageSize > head.pageSize; // guard: pages that are shorter than they say
  if (isShorter) return { ...head, pageSize, tried: [again.page], refused, isSure, larger };
  return { ...again, tried: [head.page], refused, isSure, larger };
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

/** Notes what the first page shows, and the sizes that were tried before it. */
export function seeFirstPage(facts: FactsSeen, { resource }: ListDefinition, first: FirstPage): void {
  const { firstPageNo, pageSize, page, asked, larger } = first;
  facts.see(resource, 'first_page', firstPageNo);
  if (larger?.how === 'failed') return;
  const evidence = { records: page.items?.length ?? 0, isGreatest: larger !== null };
  if (asked === null) facts.see(resource, 'default_page_size', pageSize, evidence);
  facts.see(resource, 'page_size', pageSize, evidence);
  if (larger !== null) facts.see(resource, 'larger_page_size', larger);
}
