import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { Asked } from '../proof/page-plan.ts';
import type { PageSource } from './ports.ts';

/** A page that came, or null where the service has no such page. */
export interface WalkedPage {
  readonly asked: Asked;
  readonly page: Page | null;
}

/** How pages of a list are asked for. */
export interface PageRequests {
  readonly source: PageSource;
  readonly list: ListDefinition;
  readonly firstPageNo: number;
  /** What to send as `pageSize`; null to leave it out. */
  readonly pageSize: number | null;
  /** Tells whether items with that digest need no parsing. */
  readonly isKnown: (digest: string) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Asks for the pages that `next` names, a few requests in flight, and yields them as they come; `next` may name more after each.
 * When the consumer stops early, or a page fails, the requests in flight are ended, too.
 *
 * @throws ServiceError when a page can't be had.
 */
export async function* walkPages(
  requests: PageRequests,
  next: () => Asked | null,
): AsyncGenerator<WalkedPage> {
  const { source, signal } = requests;
  const walk = new AbortController();
  const inFlight = new PagesInFlight();
  const stop = () => walk.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const fill = () => {
      while (inFlight.size < source.concurrency) {
        const asked = next();
        if (asked === null) return;
        inFlight.add(getOrMissing({ ...requests, signal: walk.signal }, asked));
      }
    };
    for (fill(); inFlight.size > 0; fill()) {
      const walked = await inFlight.take();
      signal.throwIfAborted();
      // The next request is sent before this page is looked at: after a turn of the event loop it is on its way.
      fill();
      await nextTurn();
      yield walked;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    walk.abort(new Error('The walk has ended.'));
    await inFlight.end();
  }
}

/**
 * Pages that were asked for, to be taken as they come. To race them would keep every page that came on the promise of one that is
 * slow, until that one comes, too.
 */
class PagesInFlight {
  /** Those that were not taken yet. */
  readonly #pages = new Set<Promise<WalkedPage>>();
  /** Those among them that have come, or failed, in that order. */
  readonly #settled: Promise<WalkedPage>[] = [];
  #wake = () => {};

  get size(): number {
    return this.#pages.size;
  }

  add(page: Promise<WalkedPage>): void {
    const settle = () => {
      this.#settled.push(page);
      this.#wake();
    };
    this.#pages.add(page);
    page.then(settle, settle);
  }

  /** The next page that comes; rejects where the next one fails. */
  async take(): Promise<WalkedPage> {
    if (this.#settled.length === 0) {
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
    const page = this.#settled.shift() as Promise<WalkedPage>;
    this.#pages.delete(page);
    return page;
  }

  /** Waits until none is in flight any more. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#pages);
  }
}

/** One page by itself; null where the service has no such page. */
export async function getOrMissing(requests: PageRequests, asked: Asked): Promise<WalkedPage> {
  try {
    return { asked, page: await getPage(requests, asked) };
  } catch (error) {
    if (error instanceof ServiceError && (await isMissing(error, requests, asked)))
      return { asked, page: null };
    throw error;
  }
}

/** Whether an error says that there is no such page; past the end, some services refuse the request, or say nothing. */
async function isMissing(
  { code, isBare }: ServiceError,
  requests: PageRequests,
  asked: Asked,
): Promise<boolean> {
  if (code === 'not_found') return true;
  if (code !== 'refused' && !isBare) return false;
  return asked.isBeyond || (await isPastEnd(requests, asked.index));
}

/** Whether the list has become so short that there is no such page any more, by its first one. */
async function isPastEnd(requests: PageRequests, index: number): Promise<boolean> {
  const { pagination } = await getPage(requests, { index: 0, isBeyond: false });
  return index * pagination.pageSize >= pagination.totalRecordCount;
}

function getPage(
  { source, list, firstPageNo, pageSize, isKnown, signal }: PageRequests,
  { index, isBeyond }: Pick<Asked, 'index' | 'isBeyond'>,
): Promise<Page> {
  return source.getPage(list, { pageNo: firstPageNo + index, pageSize, isBeyond }, signal, isKnown);
}
