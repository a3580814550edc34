import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import type { Traffic } from '../contract/run.ts';

export type * from '../contract/run.ts';

/** The page to ask for; null leaves the parameter out, so that the service's own default counts. */
export interface PageRequest {
  readonly pageNo: number | null;
  readonly pageSize: number | null;
  /** True if, by all that is known, there is no page at this address: an empty answer might then be right. */
  readonly isBeyond?: boolean;
  /** How often a page that the service fails to make is asked for; as long as the service is given up if it is left out. */
  readonly triesMax?: number;
}

/** The service, as a run sees it: pages of lists, and what they cost. `service/` implements it. */
export interface PageSource {
  readonly baseUrl: string;
  readonly traffic: Traffic;
  /** How many page requests can be in flight now. */
  readonly concurrency: number;
  /**
   * Gets one page, with all its retries.
   *
   * @param isKnown tells whether items with that digest need no parsing.
   * @throws ServiceError if all retries failed or another try can't help.
   */
  getPage(
    list: ListDefinition,
    request: PageRequest,
    signal: AbortSignal,
    isKnown?: (itemsDigest: string) => boolean,
  ): Promise<Page>;
}
