import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import type { PageSource } from './ports.ts';

/** A page that came, or null where the service has no such page. */
export interface WalkedPage {
  readonly pageNo: number;
  readonly page: Page | null;
}

/** Which pages are still to be asked for; its answer may change as pages come in. */
export interface PagePlan {
  /** The next page to ask for; null where there is none for now. */
  next(): number | null;
}

/**
 * Walks the pages of a plan, a few requests in flight, and yields them as they come. When the consumer stops early, or a page
 * fails, the requests in flight are ended, too.
 *
 * @throws ServiceError when a page can't be had.
 */
export async function* walkPages(
  source: PageSource,
  list: ListDefinition,
  pageSize: number | null,
  plan: PagePlan,
  isKnown: (itemsDigest: string) => boolean,
  signal: AbortSignal,
): AsyncGenerator<WalkedPage> {
  const walk = new AbortController();
  const inFlight = new Map<number, Promise<WalkedPage>>();
  const stop = () => walk.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const fill = () => {
      while (inFlight.size < source.concurrency) {
        const pageNo = plan.next();
        if (pageNo === null) return;
        const page = getOrMissing(source, list, pageNo, pageSize, isKnown, walk.signal);
        // It is waited for below; until then its failure must not count as one that nobody sees.
        page.catch(() => undefined);
        inFlight.set(pageNo, page);
      }
    };
    for (fill(); inFlight.size > 0; fill()) {
      const walked = await Promise.race(inFlight.values());
      signal.throwIfAborted();
      inFlight.delete(walked.pageNo);
      // The next request is sent before this page is looked at: after a turn of the event loop it is on its way.
      fill();
      await nextTurn();
      yield walked;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    walk.abort(new Error('The walk has ended.'));
    await Promise.allSettled(inFlight.values());
  }
}

async function getOrMissing(
  source: PageSource,
  list: ListDefinition,
  pageNo: number,
  pageSize: number | null,
  isKnown: (itemsDigest: string) => boolean,
  signal: AbortSignal,
): Promise<WalkedPage> {
  try {
    return { pageNo, page: await source.getPage(list, { pageNo, pageSize }, signal, isKnown) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return { pageNo, page: null };
    throw error;
  }
}
