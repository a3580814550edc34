import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { readRecords } from '../contract/record.ts';
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
    if (isLastPage(requests, other, otherSize) && endAlike(requests.list, page, other)) return 'holds';
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
  const { page } = await getOrMissing({ ...requests, pageSize: askedSize }, asked);
  return page;
}

/** Whether a page is the last one by its own total, and whole. */
function isLastPage({ firstPageNo }: PageRequests, page: Page | null, size: number): page is Page {
  if (page === null) return false;
  const { pageNo, totalRecordCount } = page.pagination;
  const index = indexOfLast(size, totalRecordCount);
  return pageNo === firstPageNo + index && page.content?.count === totalRecordCount - index * size;
}

/** Whether pages end with the same record, of which neither holds another one, that might stand in its place. */
function endAlike(list: ListDefinition, ...pages: readonly Page[]): boolean {
  const said = pages.map(page => wordsOf(list, page));
  const record = said[0]?.at(-1);
  return record !== undefined && said.every(words => words.indexOf(record) === words.length - 1);
}

/** What each record of a page says: its content or, where it can't be read, its text. */
function wordsOf(list: ListDefinition, { content }: Page): string[] {
  if (content === null) return [];
  const words: string[] = [];
  const { records, positions, rejections } = readRecords(list, content);
  for (const [at, record] of records.entries())
    words[positions[at] as number] = record.content.toString('hex');
  for (const { position, record } of rejections) words[position] = record;
  return words;
}

function indexOfLast(size: number, total: number): number {
  return Math.max(0, Math.ceil(total / size) - 1);
}
