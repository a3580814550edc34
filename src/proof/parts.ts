import { contentBytes, Sum } from '../contract/sum.ts';
import { type Answer, type Counting, type ItemsOf, rejectedRow } from './answer.ts';
import type { Places, Strip } from './strip.ts';

/** A part of a strip, as one answer says it. */
export interface Part {
  readonly answer: Answer;
  /** The answer's items that stand there. */
  readonly items: Places;
  /** The place of one of these items. */
  placeOf(item: number): number;
}

/** The parts of a strip between two places. */
export function* partsOf({ segments, counting }: Strip, { from, to }: Places): Generator<Part> {
  const isFromBack = counting === 'back';
  for (const { answer, items, ...segment } of segments) {
    const first = Math.max(from, segment.from);
    const last = Math.min(to, segment.to);
    if (first >= last) continue;
    const start = items.from + (isFromBack ? segment.to - last : first - segment.from);
    const placeOf = (item: number) => (isFromBack ? last - 1 - (item - start) : first + (item - start));
    yield { answer, items: { from: start, to: start + last - first }, placeOf };
  }
}

/** All places of a strip. */
export function allPlaces({ covered }: Strip): Places {
  return { from: 0, to: covered };
}

/** The first `count` places of a strip as somebody counts them who counts in that direction; null where the strip is counted in the other one. */
export function placesCounted(strip: Strip, counting: Counting, count: number): Places | null {
  if (strip.counting === null && counting === 'back') {
    return { from: strip.covered - count, to: strip.covered };
  }
  return strip.counting === null || strip.counting === counting ? { from: 0, to: count } : null;
}

/** The places of a strip that a range does not cover; at most one range, for the other end of it is an end of the strip. */
export function placesBeside({ covered }: Strip, { from, to }: Places): Places {
  return from === 0 ? { from: to, to: covered } : { from: 0, to: from };
}

/** The sum over a range of a strip's places; null where a page that is needed in part was not read. */
export function sumOfPlaces(strip: Strip, places: Places, itemsOf: ItemsOf): Sum | null {
  const sum = new Sum();
  for (const { answer, items } of partsOf(strip, places)) {
    if (items.to - items.from === answer.count) {
      sum.addSum(answer.sum);
      continue;
    }
    const read = itemsOf(answer.digest);
    if (read === null) return null;
    sum.addSum(Sum.of(read.contents, items.from, items.to));
  }
  return sum;
}

/** The sum over a strip's records without the rejected ones; null where pages were not read that are needed. */
export function acceptedSum(strip: Strip, itemsOf: ItemsOf): Sum | null {
  const sum = sumOfPlaces(strip, allPlaces(strip), itemsOf);
  for (const { answer, items } of partsOf(strip, allPlaces(strip))) {
    if (answer.rejected === null) continue;
    const read = itemsOf(answer.digest);
    if (read === null) return null;
    for (let at = items.from; at < items.to; at++) {
      if (read.rows[at] === rejectedRow) sum?.subtract(read.contents, at * contentBytes);
    }
  }
  return sum;
}
