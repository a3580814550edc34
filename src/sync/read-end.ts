import { isDeepStrictEqual } from 'node:util';
import type { Page } from '../contract/page.ts';
import { type EndProbe, otherSizeOf } from '../proof/end.ts';
import type { WalkAccount } from '../proof/walk-account.ts';
import { getFirstPage } from './page-size.ts';
import { getOrMissing, type PageRequests } from './walk.ts';

/** The list may grow while its end is looked at. */
const triesMax = 3;

/** Looks at the end of a list once more, and then by pages of another size: both must end with the same record. */
export async function probeEnd(requests: PageRequests, account: WalkAccount): Promise<EndProbe> {
  const { pageSize } = account.envelope;
  const otherSize = otherSizeOf(account);
  let total = account.newestTotal;
  for (let tries = 0; tries < triesMax; tries++) {
    const page = await getLastPage(requests, requests.pageSize, pageSize, total);
    const other = await getLastPage(requests, otherSize, otherSize, total);
    const totals = [page, other].map(each => each?.pagination.totalRecordCount ?? total);
    const moved = totals.findLast(each => each !== total);
    if (moved !== undefined) {
      total = moved;
      continue;
    }
    if (!isLastPage(requests, page, pageSize)) return 'differs';
    if (other?.pagination.pageSize !== otherSize) return 'one-size';
    if (isLastPage(requests, other, otherSize) && endAlike(page, other)) return 'holds';
    // The size that an answer says may be that of the request alone.
    const { envelope } = await getFirstPage(requests.source, requests.list, otherSize, requests.signal);
    return envelope.pageSize === otherSize ? 'differs' : 'one-unknown-size';
  }
  return 'differs';
}

async function getLastPage(
  requests: PageRequests,
  askedSize: number | null,
  size: number,
  total: number,
): Promise<Page | null> {
  const asked = { index: indexOfLast(size, total), totalBefore: 0, isBeyond: true };
  const { page } = await getOrMissing({ ...requests, pageSize: askedSize }, asked, requests.signal);
  return page;
}

/** Whether a page is the last one by its own total, and whole. */
function isLastPage({ firstPageNo }: PageRequests, page: Page | null, size: number): page is Page {
  if (page === null) return false;
  const { pageNo, totalRecordCount } = page.pagination;
  const index = indexOfLast(size, totalRecordCount);
  return pageNo === firstPageNo + index && page.content?.items.length === totalRecordCount - index * size;
}

/** Whether pages end with the same record, of which neither holds another one, that might stand in its place. */
function endAlike(...pages: readonly Page[]): boolean {
  const lists = pages.map(({ content }) => content?.items ?? []);
  const record = lists[0]?.at(-1);
  return lists.every(items => {
    const isAlike = (item: unknown) => isDeepStrictEqual(item, record);
    return items.filter(isAlike).length === 1 && isAlike(items.at(-1));
  });
}

function indexOfLast(size: number, total: number): number {
  return Math.max(0, Math.ceil(total / size) - 1);
}
