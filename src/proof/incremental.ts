import type { Pagination } from '../contract/page.ts';
import type { Envelope } from './envelope.ts';

/** How the two ends of a list looked to the last run that was sure of them. */
export interface ListEdges {
  /** When the last full sweep began, as an ISO date in UTC. */
  readonly sweptAt: string;
  readonly firstPageNo: number;
  readonly pageSize: number;
  readonly totalRecordCount: number;
  readonly lastPageNo: number;
  /** The digests of the first and the last page's items. */
  readonly firstDigest: string;
  readonly lastDigest: string;
}

/** A page of an edge, held against the mirror. */
export interface EdgePage {
  /** The page that was asked for. */
  readonly pageNo: number;
  /** What the answer says of itself. */
  readonly pagination: Pagination;
  readonly count: number;
  readonly digest: string;
  readonly rejected: number;
  readonly found: FoundOnPage;
}

/** Which of a page's records the mirror does not hold as they are. */
export interface FoundOnPage {
  readonly newCount: number;
  /** The positions of the first and the last of them; -1 where there is none. */
  readonly firstNew: number;
  readonly lastNew: number;
  /** How many of them have an id that stands in the mirror with another content. */
  readonly changed: number;
}

/** What to do next: ask for a page, or stop because it is known what is new, or give up and sweep the list in full. */
export type IncrementalStep =
  | { readonly kind: 'ask'; readonly pageNo: number }
  | { readonly kind: 'done'; readonly added: number }
  | { readonly kind: 'sweep'; readonly reason: string };

/** Lists of so few pages are always swept in full: it costs little, and sees every change. */
export const pagesSweptAlwaysMax = 10;

/**
 * Plans an incremental sync, page by page: given how the edges were, what the first page says now, and the pages that were
 * fetched so far, what next?
 *
 * A log grows at one end. So where the total is the same, both ends must be; where it grew by k, exactly k new records must
 * stand at one end, followed by a full page of known ones. Any doubt ends in a full sweep.
 */
export function planIncremental(
  edges: ListEdges,
  now: Envelope,
  pages: ReadonlyMap<number, EdgePage>,
): IncrementalStep {
  const doubt = [...pages.values()].map(page => doubtOf(page, now)).find(words => words !== null);
  const moved = movedFrom(edges, now) ?? doubt;
  if (moved !== undefined) return sweep(moved);
  const first = pages.get(now.firstPageNo);
  if (first === undefined) return { kind: 'ask', pageNo: now.firstPageNo };
  const grownBy = now.totalRecordCount - edges.totalRecordCount;
  if (grownBy === 0) return planSame(edges, now, first, pages);
  return first.found.newCount > 0
    ? planFront(grownBy, now, pages)
    : planEnd(grownBy, edges, now, first, pages);
}

function planSame(
  edges: ListEdges,
  now: Envelope,
  first: EdgePage,
  pages: ReadonlyMap<number, EdgePage>,
): IncrementalStep {
  if (first.digest !== edges.firstDigest) return sweep('the total is the same, but the first page is not');
  const last = pages.get(lastPageOf(now));
  if (last === undefined) return { kind: 'ask', pageNo: lastPageOf(now) };
  return last.digest === edges.lastDigest
    ? { kind: 'done', added: 0 }
    : sweep('the total is the same, but the last page is not');
}

/** New records stand at the front: read on until a full page of known ones, then make sure of the end. */
function planFront(grownBy: number, now: Envelope, pages: ReadonlyMap<number, EdgePage>): IncrementalStep {
  let added = 0;
  for (let pageNo = now.firstPageNo; pageNo < lastPageOf(now); pageNo++) {
    const page = pages.get(pageNo);
    if (page === undefined) return { kind: 'ask', pageNo };
    const { newCount, firstNew, lastNew } = page.found;
    if (newCount === 0) {
      return added === grownBy ? planLast(grownBy, now, pages) : sweep(wrongCount(grownBy, added));
    }
    const isLeading = firstNew === 0 && lastNew === newCount - 1;
    const isGap = added % now.pageSize !== 0;
    if (!isLeading || isGap) return sweep(`new records stand amid known ones on page ${pageNo}`);
    added += newCount;
    if (added > grownBy) return sweep(wrongCount(grownBy, added));
  }
  return sweep('new records stand on every page');
}

function planLast(grownBy: number, now: Envelope, pages: ReadonlyMap<number, EdgePage>): IncrementalStep {
  const last = pages.get(lastPageOf(now));
  if (last === undefined) return { kind: 'ask', pageNo: lastPageOf(now) };
  return last.found.newCount === 0 ? { kind: 'done', added: grownBy } : sweep('both ends have new records');
}

/** New records stand at the end: read from the page before the old last one to the new last one. */
function planEnd(
  grownBy: number,
  edges: ListEdges,
  now: Envelope,
  first: EdgePage,
  pages: ReadonlyMap<number, EdgePage>,
): IncrementalStep {
  if (first.digest !== edges.firstDigest) return sweep('the first page changed, but holds nothing new');
  let added = 0;
  for (let pageNo = edges.lastPageNo - 1; pageNo <= lastPageOf(now); pageNo++) {
    const page = pages.get(pageNo);
    if (page === undefined) return { kind: 'ask', pageNo };
    const { newCount, firstNew, lastNew } = page.found;
    if (pageNo < edges.lastPageNo && newCount > 0) return sweep(`page ${pageNo} changed before the end`);
    const isTrailing = newCount === 0 || lastNew === page.count - 1;
    const isWhole = newCount === 0 || lastNew - firstNew === newCount - 1;
    const isGap = added > 0 && newCount < page.count;
    if (!isTrailing || !isWhole || isGap) return sweep(`new records stand amid known ones on page ${pageNo}`);
    added += newCount;
  }
  return added === grownBy ? { kind: 'done', added } : sweep(wrongCount(grownBy, added));
}

/** Why the edges do not say anything about the list as it is now; undefined where they do. */
function movedFrom(edges: ListEdges, now: Envelope): string | undefined {
  if (now.firstPageNo !== edges.firstPageNo || now.pageSize !== edges.pageSize)
    return 'the pages are cut in another way';
  if (now.totalRecordCount < edges.totalRecordCount) return 'the total fell';
  if (now.pageCount > Math.ceil(now.totalRecordCount / now.pageSize))
    return 'there are more pages by pageCount than by the total';
  if (now.totalRecordCount > 2 * edges.totalRecordCount) return 'more is new than known';
  return undefined;
}

/** What is wrong with a page, if anything: it must be the one asked for, of the same list, and hold no changed record. */
function doubtOf({ pageNo, pagination, count, rejected, found }: EdgePage, now: Envelope): string | null {
  const isSameList =
    pagination.totalRecordCount === now.totalRecordCount &&
    pagination.pageCount === now.pageCount &&
    pagination.pageSize === now.pageSize;
  if (!isSameList) return 'the list grew while it was read';
  if (pagination.pageNo !== pageNo)
    return `asked for page ${pageNo}, the service answered with page ${pagination.pageNo}`;
  const due = Math.min(now.pageSize, now.totalRecordCount - (pageNo - now.firstPageNo) * now.pageSize);
  if (count !== due) return `page ${pageNo} held ${count} records instead of ${due}`;
  if (found.changed > 0) return `page ${pageNo} holds changed records`;
  return rejected > 0 ? `page ${pageNo} holds records that can't be read` : null;
}

/** The number of a list's last page, by its total. */
export function lastPageOf({ firstPageNo, pageSize, totalRecordCount }: Envelope): number {
  return firstPageNo + Math.ceil(totalRecordCount / pageSize) - 1;
}

function wrongCount(grownBy: number, added: number): string {
  return `the total grew by ${grownBy}, but ${added} new records stand at the edge`;
}

function sweep(reason: string): IncrementalStep {
  return { kind: 'sweep', reason };
}
