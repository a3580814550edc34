import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { Answer, Ask } from '../proof/window.ts';
import type { PageSource } from './ports.ts';

/** The size that `auto` asks for if nothing is known yet. */
export const pageSizeAtFirst = 1000;

/** How a list's first answer describes it. */
export interface Envelope {
  /** The `pageNo` of the first page. */
  readonly firstPageNo: number;
  /** How many records a full page has: the greatest size that the service serves. */
  readonly pageSize: number;
  readonly pageCount: number;
  readonly totalRecordCount: number;
}

/** The first page of a list, and the size of pages that the service really sends. */
export interface FirstPage {
  readonly page: Page;
  readonly envelope: Envelope;
  /** Whether to send the page size; not if the service refused the requested one, and sent pages of its default. */
  readonly sendsServedSize: boolean;
  /** Pages that were read before this one to find the size. */
  readonly tried: readonly Page[];
}

/** The greatest number of pages that a list can have, by its total or by its own page count. */
export function pagesStated({
  pageCount,
  pageSize,
  totalRecordCount,
}: Omit<Envelope, 'firstPageNo'>): number {
  return Math.max(pageCount, Math.ceil(totalRecordCount / pageSize));
}

/**
 * Asks for a list's first page without `pageNo`, and finds the page size: the size of the answer counts, not the size
 * that was asked for. If the service refuses a size, its default is used. The default, and a size that was cut
 * silently, is then asked for by its real value, so that the service counts its pages by it.
 */
export async function getFirstPage(
  source: PageSource,
  list: ListDefinition,
  wanted: number | null,
  signal: AbortSignal,
): Promise<FirstPage> {
  const first = await getOrDefault(source, list, wanted, signal);
  const size = sizeOf(first.page);
  // A service that refuses a size might serve smaller ones; a list on one page needs none.
  const isKnown = first.asked === null && size >= first.page.pagination.totalRecordCount;
  const isServed = first.asked !== null && (size === first.asked || size === first.page.pagination.pageSize);
  if (isKnown || isServed) return describe(first.page, first.asked !== null, []);
  const again = await getOrDefault(source, list, size, signal);
  return describe(again.page, again.asked !== null, [first.page]);
}

async function getOrDefault(
  source: PageSource,
  list: ListDefinition,
  pageSize: number | null,
  signal: AbortSignal,
): Promise<{ page: Page; asked: number | null }> {
  try {
    return { page: await source.getPage(list, { pageNo: null, pageSize }, signal), asked: pageSize };
  } catch (error) {
    if (pageSize === null || !isRefusalOfSize(error)) throw error;
    return { page: await source.getPage(list, { pageNo: null, pageSize: null }, signal), asked: null };
  }
}

function isRefusalOfSize(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'refused' || error.code === 'not_found');
}

function describe(page: Page, sendsServedSize: boolean, tried: readonly Page[]): FirstPage {
  const { pageNo, pageCount, totalRecordCount } = page.pagination;
  return {
    page,
    sendsServedSize,
    tried,
    envelope: { firstPageNo: pageNo, pageSize: sizeOf(page), pageCount, totalRecordCount },
  };
}

/** How many records a full page has, at least one, by the first page's own statement and by its items. */
function sizeOf({ content, pagination }: Page): number {
  const count = content?.count ?? 0;
  const { pageSize, totalRecordCount } = pagination;
  if (count > pageSize) return count;
  const isWholeList = count >= totalRecordCount;
  return Math.max(1, isWholeList || count === 0 ? pageSize : Math.min(pageSize, count));
}

/** A page that came, or none: the list has none there, or the answer says nothing for a reason. */
export type Fetched =
  | { readonly page: Page }
  | { readonly page: null; readonly wrong: Answer['wrong']; readonly reason?: string };

/** How often a page is asked for that the service fails to make, before it is looked whether the service answers at all. */
const triesOfOne = 4;
/** Why a page of another size says nothing. */
export const wrongSize = 'the service does not serve pages of the size that it was asked for';

/** Asks for the pages of a list, and finds out what it means if there is none. */
export class PageRequests {
  readonly #source: PageSource;
  readonly #list: ListDefinition;
  readonly #first: Pick<FirstPage, 'envelope' | 'sendsServedSize'>;
  readonly #isKnown: (itemsDigest: string) => boolean;

  constructor(
    source: PageSource,
    list: ListDefinition,
    first: Pick<FirstPage, 'envelope' | 'sendsServedSize'>,
    isKnown: (itemsDigest: string) => boolean,
  ) {
    this.#source = source;
    this.#list = list;
    this.#first = first;
    this.#isKnown = isKnown;
  }

  /** @throws ServiceError if the service does not answer, or refuses more than this page. */
  async get(ask: Ask, signal: AbortSignal): Promise<Fetched> {
    try {
      return { page: await this.#request(ask, signal, triesOfOne) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isNoPage = hasNoPage(error);
      if (!isNoPage && error.code !== 'server_error') throw error;
      if (isNoPage && ask.sent !== null) return { page: null, wrong: 'size', reason: wrongSize };
      if (isNoPage && ask.isBeyond) return { page: null, wrong: null };
      return await this.#explain(ask, error, signal);
    }
  }

  /** The list might have become shorter, the service might not serve that size, or this one page fails: its first page tells. */
  async #explain(ask: Ask, error: ServiceError, signal: AbortSignal): Promise<Fetched> {
    const { pageSize } = this.#first.envelope;
    if (ask.index === 0 && ask.size === pageSize) throw error;
    const isNoPage = hasNoPage(error);
    const head = await this.#request({ ...ask, index: 0, sent: null, isBeyond: false }, signal).catch(
      (other: unknown) => {
        if (other instanceof ServiceError && hasNoPage(other) && ask.size !== pageSize) return null;
        throw other;
      },
    );
    if (head === null) return { page: null, wrong: 'size', reason: wrongSize };
    const isPast = ask.index * ask.size >= head.pagination.totalRecordCount;
    if (isNoPage && (isPast || error.code === 'not_found')) return { page: null, wrong: null };
    if (error.isBare && ask.size !== pageSize) return { page: null, wrong: null };
    if (error.isBare) throw error;
    // The service answers: it might have failed for a while, or this page fails for good.
    return await this.#request(ask, signal, triesOfOne).then(
      page => ({ page }),
      (again: unknown) => {
        const isFailed =
          again instanceof ServiceError && (again.code === 'server_error' || again.code === 'refused');
        if (isFailed) return { page: null, wrong: 'failed', reason: again.message };
        throw again;
      },
    );
  }

  #request({ index, size, sent, isBeyond }: Ask, signal: AbortSignal, triesMax?: number): Promise<Page> {
    const { envelope, sendsServedSize } = this.#first;
    const { firstPageNo, pageSize } = envelope;
    const request = {
      pageNo: firstPageNo + index,
      pageSize: sent ?? (sendsServedSize || size !== pageSize ? size : null),
      isBeyond,
      ...(triesMax !== undefined && { triesMax }),
    };
    return this.#source.getPage(this.#list, request, signal, this.#isKnown);
  }
}

function hasNoPage(error: ServiceError): boolean {
  return error.code === 'not_found' || error.code === 'refused' || error.isBare;
}
