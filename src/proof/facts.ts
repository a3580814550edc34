import type { LearntOrder } from './order.ts';
import type { Ties } from './ties.ts';
import type { Identity, PageAddress } from './window.ts';

/** All keys greater than this one; all of the list if it is null, because no order of keys is seen. */
export interface KeysBeyond {
  readonly beyond: number | null;
}

/** A list, as its proof sees it. */
export interface ListFacts {
  readonly identity: Identity;
  /** The greatest page size that the service serves. */
  readonly largest: number;
  /** How many records neighbouring pages have in common, at least. */
  readonly overlap: number;
  readonly learnt: LearntOrder;
  /** The run's number: page sizes of second looks rotate with it, so that no cache can have kept their pages. */
  readonly run: number;
  /** The total that the run before found; null if there was none. */
  readonly totalBefore: number | null;
  /** The totals of pages that were read before the first one, by sizes that were not served. */
  readonly totalsTried?: readonly number[];
  /** Whether a run that proved the list has seen the same page; left out if nothing is known. */
  readonly isKnown?: (digest: string) => boolean;
  /** Whether the run before proved what the mirror has, and this run goes on with nothing. */
  readonly isSettled?: boolean;
  /** The growing end of which the run before let rows stay, because the list seemed to be being filled; left out or null if it did not. */
  readonly retained?: KeysBeyond | null;
  /** Where the mirror has records that share a key; left out if nothing is known. */
  readonly ties?: Ties | null;
  /** The pages that were planned by such ties when the reading began, if an earlier run began it. */
  readonly planned?: readonly PageAddress[];
}
