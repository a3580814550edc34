import type { PageFindings, WalkEnvelope } from '../sync/ports.ts';

/** How the two ends of a list looked to the last run that was sure of them. */
export interface ListEdges {
  readonly baseUrl: string;
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
  now: WalkEnvelope,
  pages: ReadonlyMap<number, PageFindings>,
): IncrementalStep {
  const doubt = [...pages.values()].map(page => doubtOf(page, now)).find(words => words !== null);
  const moved = movedFrom(edges, now) ?? doubt;
  if (moved !== undefined) return { kind: 'sweep', reason: moved };
  const first = pages.get(now.firstPageNo);
  if (first === undefined) return { kind: 'ask', pageNo: now.firstPageNo };
  const grownBy = now.totalRecordCount - edges.totalRecordCount;
  if (grownBy === 0) return planSame(edges, now, first, pages);
  return first.news.count > 0 ? planFront(grownBy, now, pages) : planEnd(grownBy, edges, now, first, pages);
}

function planSame(
  edges: ListEdges,
  now: WalkEnvelope,
  first: PageFindings,
  pages: ReadonlyMap<number, PageFindings>,
): IncrementalStep {
  if (first.itemsDigest !== edges.firstDigest)
    return sweep('the total is the same, but the first page is not');
  const last = pages.get(lastPageOf(now));
  if (last === undefined) return { kind: 'ask', pageNo: lastPageOf(now) };
  return last.itemsDigest === edges.lastDigest
    ? { kind: 'done', added: 0 }
    : sweep('the total is the same, but the last page is not');
}

/** New records stand at the front: read on until a full page of known ones, then make sure of the end. */
function planFront(
  grownBy: number,
  now: WalkEnvelope,
  pages: ReadonlyMap<number, PageFindings>,
): IncrementalStep {
  let added = 0;
  for (let pageNo = now.firstPageNo; pageNo < lastPageOf(now); pageNo++) {
    const page = pages.get(pageNo);
    if (page === undefined) return { kind: 'ask', pageNo };
    if (page.news.count === 0) {
      return added === grownBy ? planLast(grownBy, now, pages) : sweep(wrongCount(grownBy, added));
    }
    const isLeading = page.news.first === 0 && page.news.last === page.news.count - 1;
    const isGap = added > 0 && added % now.pageSize !== 0;
    if (!isLeading || isGap) return sweep(`new records stand amid known ones on page ${pageNo}`);
    added += page.news.count;
    if (added > grownBy) return sweep(wrongCount(grownBy, added));
  }
  return sweep('new records stand on every page');
}

function planLast(
  grownBy: number,
  now: WalkEnvelope,
  pages: ReadonlyMap<number, PageFindings>,
): IncrementalStep {
  const last = pages.get(lastPageOf(now));
  if (last === undefined) return { kind: 'ask', pageNo: lastPageOf(now) };
  return last.news.count === 0 ? { kind: 'done', added: grownBy } : sweep('both ends have new records');
}

/** New records stand at the end: read from the page before the old last one to the new last one. */
function planEnd(
  grownBy: number,
  edges: ListEdges,
  now: WalkEnvelope,
  first: PageFindings,
  pages: ReadonlyMap<number, PageFindings>,
): IncrementalStep {
  if (first.itemsDigest !== edges.firstDigest) return sweep('the first page changed, but holds nothing new');
  let added = 0;
  for (let pageNo = edges.lastPageNo - 1; pageNo <= lastPageOf(now); pageNo++) {
    const page = pages.get(pageNo);
    if (page === undefined) return { kind: 'ask', pageNo };
    if (pageNo < edges.lastPageNo && page.news.count > 0)
      return sweep(`page ${pageNo} changed before the end`);
    const isTrailing = page.news.count === 0 || page.news.last === page.itemCount - 1;
    const isWhole = page.news.count === 0 || page.news.last - page.news.first === page.news.count - 1;
    const isGap = added > 0 && page.news.count < page.itemCount;
    if (!isTrailing || !isWhole || isGap) return sweep(`new records stand amid known ones on page ${pageNo}`);
    added += page.news.count;
  }
  return added === grownBy ? { kind: 'done', added } : sweep(wrongCount(grownBy, added));
}

/** Why the edges do not say anything about the list as it is now; undefined where they do. */
function movedFrom(edges: ListEdges, now: WalkEnvelope): string | undefined {
  if (now.firstPageNo !== edges.firstPageNo || now.pageSize !== edges.pageSize)
    return 'the pages are cut in another way';
  if (now.totalRecordCount < edges.totalRecordCount) return 'the total fell';
  if (now.totalRecordCount > 2 * edges.totalRecordCount) return 'more is new than known';
  return undefined;
}

/** What is wrong with a page, if anything: it must be the one asked for, of the same list, and hold no changed record. */
function doubtOf(page: PageFindings, now: WalkEnvelope): string | null {
  const { pageNo, pagination, itemCount, news } = page;
  const isSameList =
    pagination.totalRecordCount === now.totalRecordCount &&
    pagination.pageCount === now.pageCount &&
    pagination.pageSize === now.pageSize;
  if (!isSameList) return 'the list grew while it was read';
  if (pagination.pageNo !== pageNo)
    return `asked for page ${pageNo}, the service answered with page ${pagination.pageNo}`;
  const due = Math.min(now.pageSize, now.totalRecordCount - (pageNo - now.firstPageNo) * now.pageSize);
  if (itemCount !== due) return `page ${pageNo} held ${itemCount} records instead of ${due}`;
  if (news.changed > 0) return `page ${pageNo} holds changed records`;
  if (page.rejected > 0) return `page ${pageNo} holds records that can't be read`;
  return page.seenElsewhere > 0 ? `page ${pageNo} holds records of another page` : null;
}

function lastPageOf({ firstPageNo, pageSize, totalRecordCount }: WalkEnvelope): number {
  return firstPageNo + Math.ceil(totalRecordCount / pageSize) - 1;
}

function wrongCount(grownBy: number, added: number): string {
  return `the total grew by ${grownBy}, but ${added} new records stand at the edge`;
}

function sweep(reason: string): IncrementalStep {
  return { kind: 'sweep', reason };
}
