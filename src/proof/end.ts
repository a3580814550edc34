import type { ItemsOf } from './answer.ts';
import type { Doubt } from './cuts.ts';
import { agreesWith, type FinishedWalk } from './finished-walk.ts';
import type { WalkAccount } from './walk-account.ts';

/**
 * What a look at a list's end came to: pages of another size end with the same record, or they don't, or the service has one page size
 * only, which it says, or echoes whatever size is asked for.
 */
export type EndProbe = 'holds' | 'differs' | 'one-size' | 'one-unknown-size';

/**
 * Whether the end of a list that is otherwise proven is still open: in any of the walks a page came again for the one after the last,
 * so that the service may heed no number beyond it, with a total that fits. A reading that agrees and cuts the list into
 * another number of pages closes it, unless nothing shows that the service heeds numbers at all. The last walk is the newest.
 */
export function isEndOpen(walks: readonly FinishedWalk[], itemsOf: ItemsOf): boolean {
  const last = walks.at(-1) as FinishedWalk;
  if (!walks.some(({ account }) => account.isEndRepeated)) return false;
  return !walks.some(
    walk =>
      walk.account.pageCount !== last.account.pageCount &&
      ![walk, last].some(isOnePageForAll) &&
      agreesWith(last, walk, itemsOf),
  );
}

/** Whether all pages may be one that is sent for every number: they are alike, and so is what came after the last, under its number. */
function isOnePageForAll({ account }: FinishedWalk): boolean {
  return account.isAllAlike && account.isEndEchoed;
}

/**
 * Where any reading of the run met records beyond a total, two that agree must both have met nothing after the last page: a page
 * that came again there may stand before them. Null where nothing is in doubt.
 */
export function doubtOfEnd(pair: readonly FinishedWalk[], walks: readonly FinishedWalk[]): Doubt | null {
  const isMoreSeen = walks.some(({ account }) => account.isTotalDenied);
  return isMoreSeen && pair.some(({ account }) => account.isEndRepeated) ? { reason: moreSeenReason } : null;
}

const moreSeenReason =
  'records came beyond a total, and a reading that agrees met a page again in the place of the one after the last';

/** A page size that cuts a list into more pages or, where each holds one record, into fewer. */
export function otherSizeOf({ envelope, newestTotal }: WalkAccount): number {
  const { pageSize } = envelope;
  return pageSize === 1 ? 2 : Math.max(1, Math.ceil(Math.min(pageSize, newestTotal) / 2));
}
