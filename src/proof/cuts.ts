import type { ItemsOf } from './answer.ts';
import { agreesWith, type FinishedWalk, isWithoutRepeats, sizeOf, soundStrip } from './finished-walk.ts';

/** Why readings that agree are no proof, or why they don't agree. */
export interface Doubt {
  readonly reason: string;
  /** The page size of the reading that is to be made next, where not any other will do. */
  readonly pageSize?: number;
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
  const isConfirmed = walks.some(walk => isCutApart(walk, sizes) && agreesWith(last, walk, itemsOf));
  return isConfirmed ? null : { reason: repeatsReason };
}

/**
 * Whether a walk of a third size can tell what two others can't: not where pages of all three sizes end together again and again, for
 * what an order does where a page ends, it does at each of them.
 */
function isCutApart(walk: FinishedWalk, sizes: readonly number[]): boolean {
  const all = [...sizes, sizeOf(walk)];
  if (new Set(all).size < all.length) return false;
  return walk.repeats?.onNeighbours === false || all.reduce(leastMultiple) > endsApart * Math.max(...all);
}

/** From one place where all three end to the next there must be more than so many pages of the largest size. */
const endsApart = 2;

function leastMultiple(a: number, b: number): number {
  let [greater, lesser] = [a, b];
  while (lesser > 0) [greater, lesser] = [lesser, greater % lesser];
  return (a / greater) * b;
}

/** A reading that says otherwise than the last one, and was not made again by the same page size since. */
function dissenterOf(
  walks: readonly FinishedWalk[],
  last: FinishedWalk,
  itemsOf: ItemsOf,
): FinishedWalk | undefined {
  const sound = walks.filter(walk => soundStrip(walk) !== null);
  const newest = new Map(sound.map(walk => [sizeOf(walk), walk]));
  return [...newest.values()].find(walk => walk !== last && !agreesWith(last, walk, itemsOf));
}

const dissentReason = 'one record stands on two pages, and readings with other page sizes held other records';

/** Why readings that cut the list in the same way prove nothing. */
export const repeatsReason =
  'one record stands on two pages, which may hide another: only readings with other page sizes could tell';
