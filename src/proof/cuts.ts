import { agree } from './agreement.ts';
import type { ItemsOf } from './answer.ts';
import { type FinishedWalk, isWithoutRepeats, sizeOf, soundStrip } from './finished-walk.ts';
import type { Strip } from './strip.ts';

/** Why readings that agree are no proof, or why they don't agree. */
export interface Doubt {
  readonly reason: string;
  /** The page size of the reading that is to be made next, where not any other will do. */
  readonly pageSize?: number;
}

/**
 * Where the whole list came as one page for any number, its total may be that of this page alone: only a size that cuts the page
 * tells, or any other size where it is one record. Where the service has one size only, the page is the whole list if it is not
 * full, or if `pageCount` knows of no other. Null where nothing is in doubt.
 *
 * @param partner an earlier reading of the same records; null where there is none.
 * @param isOneSize whether another size was asked for, and the service has sent pages of one size only.
 */
export function doubtOfOnlyPage(
  partner: FinishedWalk | null,
  last: FinishedWalk,
  isOneSize: boolean,
): Doubt | null {
  if (!last.account.isOnePageForAll || partner?.account.isOnePageForAll === false) return null;
  const count = last.account.newestTotal;
  const size = sizeOf(last);
  if (isOneSize) return count < size || !last.account.isEndDenied ? null : { reason: oneSizeReason };
  if (count === 1 && partner !== null && sizeOf(partner) !== size) return null;
  const half = Math.ceil(count / 2);
  return { reason: onlyPageReason, pageSize: half === size ? size + 1 : half };
}

/**
 * Where one content stands on two pages in both readings, they must have cut the list in different ways; where it does so on
 * neighbouring pages, or where all pages of one reading are alike, a third reading with a third size must agree, too. And the
 * newest reading by any other size must not say otherwise: the pages of some sizes may lie where those of others don't. Null
 * where nothing is in doubt.
 */
export function doubtOfCuts(
  partner: FinishedWalk,
  last: FinishedWalk,
  walks: readonly FinishedWalk[],
  itemsOf: ItemsOf,
): Doubt | null {
  if (isWithoutRepeats(partner) || isWithoutRepeats(last)) return null;
  const sizes = [sizeOf(partner), sizeOf(last)];
  if (sizes[0] === sizes[1]) return { reason: repeatsReason };
  const dissenter = dissenterOf(walks, last, itemsOf);
  if (dissenter !== undefined) return { reason: dissentReason, pageSize: sizeOf(dissenter) };
  const both = [partner, last];
  const isNeighbouring = both.every(({ repeats }) => repeats?.onNeighbours !== false);
  const isAlike = both.some(({ account }) => account.isAllAlike);
  if (!isNeighbouring && !isAlike) return null;
  const isConfirmed = walks.some(walk => {
    const strip = soundStrip(walk);
    if (strip === null || sizes.includes(sizeOf(walk))) return false;
    return agree(strip, last.strip as Strip, itemsOf).kind === 'agrees';
  });
  return isConfirmed ? null : { reason: repeatsReason };
}

/** A reading that says otherwise than the last one, and was not made again by the same page size since. */
function dissenterOf(
  walks: readonly FinishedWalk[],
  last: FinishedWalk,
  itemsOf: ItemsOf,
): FinishedWalk | undefined {
  const sound = walks.filter(walk => soundStrip(walk) !== null);
  const newest = new Map(sound.map(walk => [sizeOf(walk), walk]));
  const isOther = (walk: FinishedWalk) =>
    walk !== last && agree(walk.strip as Strip, last.strip as Strip, itemsOf).kind !== 'agrees';
  return [...newest.values()].find(isOther);
}

const dissentReason = 'one record stands on two pages, and readings with other page sizes held other records';

const onlyPageReason = 'the only page came again for the next one';

/** Why a page that came for any number proves nothing where the service has one page size. */
export const oneSizeReason = `${onlyPageReason}, which there is by pageCount: only readings with other page sizes could tell`;

/** Why readings that cut the list in the same way prove nothing. */
export const repeatsReason =
  'one record stands on two pages, which may hide another: only readings with other page sizes could tell';
