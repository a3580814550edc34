import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { PageAddress } from '../proof/windows/page.ts';
import type { PageSource } from './ports.ts';

/** The page of a list to ask for. */
export interface PageAsk extends PageAddress {
  /** True if by the newest total there is no page at this address. */
  readonly isBeyond: boolean;
}

/** An answer: a page, or that there is no page at this address, or that the service does not serve pages of that size. */
export interface PageReply<Ask extends PageAsk> {
  readonly ask: Ask;
  readonly page: Page | null;
  readonly isSizeRefused: boolean;
}

/** How pages of a list are asked for. */
export interface PageRequests {
  readonly source: PageSource;
  readonly list: ListDefinition;
  readonly firstPageNo: number;
  /** A page size that the service has served; another one might be refused. */
  readonly servedSize: number;
  /** Whether to send that size: not if the service refused the requested one, and this is its default. */
  readonly sendsServedSize: boolean;
  /** Tells whether items with that digest need no parsing. */
  readonly isKnown: (digest: string) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Asks for the pages that `next` names, a few requests in flight, and yields the answers as they arrive; `next` can
 * name more after each. If the consumer stops early, or a page fails, the requests in flight are ended, too.
 *
 * @throws ServiceError if a page can't be read.
 */
export async function* requestPages<Ask extends PageAsk>(
  requests: PageRequests,
  next: () => Ask | null,
): AsyncGenerator<PageReply<Ask>> {
  const { source, signal } = requests;
  const reading = new AbortController();
  const inFlight = new InFlight<PageReply<Ask>>();
  const stop = () => reading.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const fill = () => {
      while (inFlight.size < source.concurrency) {
        const ask = next();
        if (ask === null) return;
        inFlight.add(requestPage({ ...requests, signal: reading.signal }, ask));
      }
    };
    for (fill(); inFlight.size > 0; fill()) {
      const reply = await inFlight.take();
      signal.throwIfAborted();
      // The next request is sent before this page is processed: after a turn of the event loop it is on its way.
      fill();
      await nextTurn();
      yield reply;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    reading.abort(new Error('The reading has ended.'));
    await inFlight.end();
  }
}

/**
 * Replies in flight, to be taken in the order of arrival. `Promise.race` would keep every page in memory until the
 * slowest one arrives.
 */
class InFlight<Reply> {
  /** Those that were not taken yet. */
  readonly #replies = new Set<Promise<Reply>>();
  /** Those among them that have arrived, or failed, in that order. */
  readonly #settled: Promise<Reply>[] = [];
  #wake = () => {};

  get size(): number {
    return this.#replies.size;
  }

  add(reply: Promise<Reply>): void {
    const settle = () => {
      this.#settled.push(reply);
      this.#wake();
    };
    this.#replies.add(reply);
    reply.then(settle, settle);
  }

  /** The next reply that arrives; rejects if that one fails. */
  async take(): Promise<Reply> {
    if (this.#settled.length === 0) {
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
    const reply = this.#settled.shift() as Promise<Reply>;
    this.#replies.delete(reply);
    return reply;
  }

  /** Waits until none is in flight any more. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#replies);
  }
}

/**
 * Asks for one page.
 *
 * @throws ServiceError if it can't be read.
 */
export async function requestPage<Ask extends PageAsk>(
  requests: PageRequests,
  ask: Ask,
): Promise<PageReply<Ask>> {
  try {
    return { ask, page: await request(requests, ask), isSizeRefused: false };
  } catch (error) {
    if (!isNoPage(error)) throw error;
    if (ask.isBeyond) return { ask, page: null, isSizeRefused: false };
    // The list might have become shorter, or the service might not serve that size: its first page tells.
    const first = await firstOfSize(requests, ask.size);
    const isPast = first !== null && ask.index * ask.size >= first.pagination.totalRecordCount;
    const isOtherSize = ask.size !== requests.servedSize;
    if (!isPast && !isOtherSize && error.code !== 'not_found') throw error;
    return { ask, page: null, isSizeRefused: first === null };
  }
}

/**
 * Whether an error can mean that there is no page at this address. Past the end, some services refuse the request, or
 * give an empty answer.
 */
function isNoPage(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false;
  return error.code === 'not_found' || error.code === 'refused' || error.isBare;
}

/** The first page of a size; null if the service does not serve that size. */
async function firstOfSize(requests: PageRequests, size: number): Promise<Page | null> {
  try {
    return await request(requests, { index: 0, size, isBeyond: false });
  } catch (error) {
    if (isNoPage(error) && size !== requests.servedSize) return null;
    throw error;
  }
}

function request(
  { source, list, firstPageNo, servedSize, sendsServedSize, isKnown, signal }: PageRequests,
  { index, size, isBeyond }: PageAsk,
): Promise<Page> {
  const pageSize = sendsServedSize || size !== servedSize ? size : null;
  return source.getPage(list, { pageNo: firstPageNo + index, pageSize, isBeyond }, signal, isKnown);
}
