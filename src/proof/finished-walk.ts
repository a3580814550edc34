import { agree } from './agreement.ts';
import type { ItemsOf } from './answer.ts';
import { findRepeats, type Repeats } from './repeats.ts';
import type { Segment, Strip } from './strip.ts';
import type { WalkAccount } from './walk-account.ts';

/** A walk that is over, as the verdict sees it. */
export interface FinishedWalk {
  readonly account: WalkAccount;
  /** Null where the walk is contradicted, or its pages were not read where they had to be. */
  readonly strip: Strip | null;
  /** Null where not every page was read. */
  readonly repeats: Repeats | null;
  /** True where known pages were not read. */
  readonly isTrusting: boolean;
  /** True where an interrupted run had read some of its pages: what they say may have changed since. */
  readonly isTakenUp: boolean;
}

/**
 * Closes the account of a walk.
 *
 * @param earlier the walks before it: what repeats in one of the very same pages need not be looked for again.
 */
export function finishWalk(
  account: WalkAccount,
  manner: Pick<FinishedWalk, 'isTrusting' | 'isTakenUp'>,
  itemsOf: ItemsOf,
  earlier: readonly FinishedWalk[],
): FinishedWalk {
  const strip = account.laid?.kind === 'strip' ? account.laid.strip : null;
  const same = strip && earlier.find(walk => walk.strip !== null && areSamePages(walk.strip, strip));
  return { account, strip, repeats: same?.repeats ?? (strip && findRepeats(strip, itemsOf)), ...manner };
}

/** Whether two strips are of pages with the same items, in the same order. */
function areSamePages({ segments: ones }: Strip, { segments: others }: Strip): boolean {
  const isSame = ({ answer, items }: Segment, at: number) => {
    const other = others[at] as Segment;
    const isOfSame = items.from === other.items.from && items.to === other.items.to;
    return isOfSame && answer.digest === other.answer.digest;
  };
  return ones.length === others.length && ones.every(isSame);
}

/** True where it is known that no content stands on two of its pages. */
export function isWithoutRepeats({ repeats }: FinishedWalk): boolean {
  return repeats !== null && !repeats.onTwoPages;
}

/** How many records a full page of a walk holds. */
export function sizeOf({ account }: FinishedWalk): number {
  return account.envelope.pageSize;
}

/** A walk's strip, if nothing contradicts it. */
export function soundStrip({ strip, repeats }: FinishedWalk): Strip | null {
  return repeats?.id == null ? strip : null;
}

/** Whether an earlier walk is sound, and says what the last one says, which must have a strip. */
export function agreesWith(last: FinishedWalk, earlier: FinishedWalk, itemsOf: ItemsOf): boolean {
  const strip = soundStrip(earlier);
  return strip !== null && agree(strip, last.strip as Strip, itemsOf).kind === 'agrees';
}

/** What contradicts a walk, in words. */
export function reasonAgainst({ account, repeats, strip }: FinishedWalk): string {
  if (repeats?.id != null) return `id ${repeats.id} stands in the list twice`;
  if (account.contradictions.length > 0) return account.contradictions.join('; ');
  return strip === null ? 'the list moved while it was read' : 'the readings differ';
}
