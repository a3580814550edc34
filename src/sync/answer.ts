import type { Page } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { Finding } from '../proof/findings.ts';
import { type Answer, type Ask, beginOf, joinPages, type PageAddress, reachOf } from '../proof/window.ts';
import { lostMax } from '../proof/witnesses.ts';
import { type Fetched, isLastWithOrphans, type Paging, wrongSize } from './pages.ts';

/** A page that was asked for: when, by the counter of the run and by the clock. */
export type Asked = Ask & Pick<Answer, 'asked' | 'at' | 'isRecalled'>;

/** What came for a page, and what the stage has read of it; null if no page came. */
export interface Came {
  readonly page: Pick<Page, 'pagination' | 'ageMs'> | null;
  readonly wrong: Fetched['wrong'];
  readonly read: Pick<Answer, 'page' | 'oldestNewKeys'> | null;
}

const nothing = { page: joinPages([], 'id'), oldestNewKeys: [] };

/** Makes an answer of what came: it says what the page says, unless the page is another one than was asked for. */
export function answerOf(
  ask: Asked,
  { page, wrong, read }: Came,
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

/** At most this many pages of a list can fail for good; the rest is then read all the same. */
const failedPagesMax = 5;

/** The pages of a reading that fail for good. */
export class FailedPages {
  readonly #failed: PageAddress[] = [];
  /** The place after the furthest record that came. */
  #reached = 0;

  /** Notes that `count` records came from a page. */
  came(page: PageAddress, count: number): void {
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
