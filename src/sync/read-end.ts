import { isDeepStrictEqual } from 'node:util';
import type { Page } from '../contract/page.ts';
import { type EndProbe, otherSizeOf } from '../proof/end.ts';
import type { WalkAccount } from '../proof/walk-account.ts';
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
    if (moved === undefined) {
      const record = lastRecordOf(requests, page, pageSize);
      if (record === undefined) return 'differs';
      if (other?.pagination.pageSize !== otherSize) return 'one-size';
      return isDeepStrictEqual(record, lastRecordOf(requests, other, otherSize)) ? 'holds' : 'differs';
    }
    total = moved;
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

/** The last item of a page, if it is the last page and whole, and holds no other like it, which might stand in its place. */
function lastRecordOf({ firstPageNo }: PageRequests, page: Page | null, size: number): unknown {
  if (page === null) return undefined;
  const { pageNo, totalRecordCount } = page.pagination;
  const index = indexOfLast(size, totalRecordCount);
  const items = page.content?.items ?? [];
  const isWhole = pageNo === firstPageNo + index && items.length === totalRecordCount - index * size;
  const record = items.at(-1);
  const isTwice = items.slice(0, -1).some(item => isDeepStrictEqual(item, record));
  return isWhole && !isTwice ? record : undefined;
}

function indexOfLast(size: number, total: number): number {
  return Math.max(0, Math.ceil(total / size) - 1);
}
