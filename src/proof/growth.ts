import type { Answer, Counting, ItemsOf } from './answer.ts';
import { partsOf, placesBeside, placesCounted, sumOfPlaces } from './parts.ts';
import { newRecordsRepeat } from './repeats.ts';
import type { Standing } from './standing.ts';
import { indexesOf, lay, type Places, type Strip } from './strip.ts';

/** What a walk has beyond an earlier reading, at the end at which the list grew: it was read once only. */
export interface Growth {
  readonly strip: Strip;
  readonly counting: Counting;
  /** The places that are to be read once more: at least the last one of the earlier reading, and all that is new; counted as the list grows. */
  readonly places: Places;
  /** The places of what is new, counted as the strip is. */
  readonly bonus: Places;
}

/** What a strip has beyond the places that an earlier reading covers, which are at one end of it. */
export function growthBeyond(strip: Strip, counting: Counting, agreed: Places): Growth {
  const last = Math.max(0, agreed.to - agreed.from - 1);
  return {
    strip,
    counting,
    places: { from: last, to: strip.covered },
    bonus: placesBeside(strip, agreed),
  };
}

/**
 * Whether the list has only grown since the mirror was written: the walk says the same as the mirror on the places that the mirror
 * covers, the rest is less than that, and none of it stands in the mirror, on two pages of its own, or twice by its id. Null where
 * it has not, or it can't be told. Unless it is known at which end the list grows, and that nothing else happens to it, all of it
 * is to be read once more: a new record may as well stand in the middle, and one that leaves meanwhile can hide it from a reading.
 */
export function findGrowth(strip: Strip, standing: Standing, itemsOf: ItemsOf): Growth | null {
  const { sum } = standing;
  const isMore = strip.covered > sum.count && strip.covered - sum.count < sum.count;
  if (!isMore || strip.segments.some(({ answer }) => answer.rejected !== null)) return null;
  const learnt = standing.counting ?? strip.counting;
  for (const counting of learnt === null ? (['front', 'back'] as const) : [learnt]) {
    const agreed = placesCounted(strip, counting, sum.count);
    if (agreed === null || sumOfPlaces(strip, agreed, itemsOf)?.equals(sum) !== true) continue;
    const growth = growthBeyond(strip, counting, agreed);
    if (!isAllNew(strip, growth.bonus, itemsOf)) continue;
    if (standing.counting !== null && standing.hasOnlyGrown) return growth;
    return { ...growth, places: { from: 0, to: strip.covered } };
  }
  return null;
}

function isAllNew(strip: Strip, bonus: Places, itemsOf: ItemsOf): boolean {
  const parts = [...partsOf(strip, bonus)];
  const areNew = parts.every(({ answer, items }) => {
    const rows = itemsOf(answer.digest)?.rows.subarray(items.from, items.to);
    return rows?.every(row => Number.isNaN(row)) === true;
  });
  return areNew && !newRecordsRepeat(parts, itemsOf);
}

/** What the second reading of a growth has come to so far. */
export type Confirmation =
  | { readonly kind: 'confirmed' | 'refuted' }
  /** The pages, from 0, that are still to be asked for. */
  | { readonly kind: 'ask'; readonly indexes: readonly number[] };

/** Holds what was read of the growing end once more against the walk, place by place; more may have come meanwhile. */
export function confirmGrowth(
  { strip, counting, places }: Growth,
  answers: readonly Answer[],
  size: number,
  newestTotal: number,
  itemsOf: ItemsOf,
): Confirmation {
  const second = lay(answers, size, counting, itemsOf);
  if (second.kind !== 'laid') return { kind: 'refuted' };
  const missing = uncovered(places, second.segments);
  if (missing !== null) return { kind: 'ask', indexes: indexesOf(missing, counting, size, newestTotal) };
  const first = strip.segments.map(({ answer }) => answer);
  const both = lay([...first, ...answers], size, counting, itemsOf);
  return { kind: both.kind === 'laid' ? 'confirmed' : 'refuted' };
}

/** From the first to the last place that no answer covers; null where all are covered. */
function uncovered({ from, to }: Places, segments: readonly Places[]): Places | null {
  let at = from;
  for (const segment of segments) {
    if (segment.from > at) break;
    at = Math.max(at, segment.to);
  }
  return at >= to ? null : { from: at, to };
}
