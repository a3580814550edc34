import { contentBytes } from '../contract/sum.ts';
import type { Answer, Counting, ItemsOf } from './answer.ts';

/** The places `from` to `to`, without the last, of a strip. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

/** A part of a strip: the places that one answer stands for. */
export interface Segment extends Places {
  readonly answer: Answer;
  /** The answer's items at these places, from the first to the one after the last. */
  readonly items: Places;
}

/** A walk's answers laid side by side, each place once. */
export interface Strip {
  /** Null where the list stood still: places are then counted from the front, and might be from the back. */
  readonly counting: Counting | null;
  /** In the order of their places, from 0, without a gap. */
  readonly segments: readonly Segment[];
  /** How many places the segments cover. */
  readonly covered: number;
}

/** What laying came to. A gap is a range of places below `required` that no answer covers. */
export type Laid =
  | { readonly kind: 'strip'; readonly strip: Strip; readonly gaps: readonly Places[] }
  /** Two answers hold different contents at one place, whichever way places are counted. */
  | { readonly kind: 'conflict' }
  /** Answers overlap in pages that were not read, so it can't be told. */
  | { readonly kind: 'unread' };

/**
 * Lays a walk's answers side by side. While all of them have one total, the strip has no direction. Otherwise both directions
 * are tried: counting from the back is taken where answers overlap and hold the same, or where earlier runs learnt it; then
 * counting from the front; then the other one.
 *
 * @param size records on a full page.
 * @param required how many places must be covered: the total that stood when the walk began.
 */
export function layStrip(
  answers: readonly Answer[],
  size: number,
  required: number,
  learnt: Counting | null,
  itemsOf: ItemsOf,
): Laid {
  const isStill = answers.every(({ total }) => total === answers[0]?.total);
  if (isStill) return toLaid(lay(answers, size, 'front', itemsOf), null, required);
  const back = lay(answers, size, 'back', itemsOf);
  if (back.kind === 'laid' && (back.overlaps || learnt === 'back')) return toLaid(back, 'back', required);
  const front = lay(answers, size, 'front', itemsOf);
  if (front.kind === 'laid') return toLaid(front, 'front', required);
  if (back.kind === 'laid') return toLaid(back, 'back', required);
  return toLaid(back.kind === 'unread' ? back : front, null, required);
}

/** Answers laid in one direction. */
export type OneWay =
  | { readonly kind: 'laid'; readonly segments: readonly Segment[]; readonly overlaps: boolean }
  | { readonly kind: 'conflict' | 'unread' };

function toLaid(way: OneWay, counting: Counting | null, required: number): Laid {
  if (way.kind !== 'laid') return { kind: way.kind };
  const gaps: Places[] = [];
  let contiguous = way.segments.length;
  let at = 0;
  for (const [number, { from, to }] of way.segments.entries()) {
    if (from > at) {
      contiguous = Math.min(contiguous, number);
      if (at < required) gaps.push({ from: at, to: Math.min(from, required) });
    }
    at = to;
  }
  if (at < required) gaps.push({ from: at, to: required });
  const segments = way.segments.slice(0, contiguous);
  return { kind: 'strip', strip: { counting, segments, covered: segments.at(-1)?.to ?? 0 }, gaps };
}

/** Lays the answers one way; a place that several cover stands once, if they hold the same there. */
export function lay(answers: readonly Answer[], size: number, counting: Counting, itemsOf: ItemsOf): OneWay {
  const ordered = answers
    .filter(({ count }) => count > 0)
    .map(answer => ({ answer, ...placesOf(answer, size, counting) }))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  const segments: Segment[] = [];
  let covered = 0;
  let overlaps = false;
  for (const { answer, from, to } of ordered) {
    for (let at = segments.length - 1; at >= 0; at--) {
      const earlier = segments[at] as Segment;
      if (earlier.to <= from) break;
      // In this order the earlier answer begins no later; the places of it that stand here may.
      const shared = { from, to: Math.min(to, earlier.to) };
      overlaps = true;
      const itemsOfOne = itemsAt(answer, shared, size, counting);
      const itemsOfOther = itemsAt(earlier.answer, shared, size, counting);
      const alike = holdTheSame([answer.digest, itemsOfOne], [earlier.answer.digest, itemsOfOther], itemsOf);
      if (alike !== true) return { kind: alike === null ? 'unread' : 'conflict' };
    }
    const start = Math.max(from, covered);
    if (start >= to) continue;
    segments.push({ answer, from: start, to, items: itemsAt(answer, { from: start, to }, size, counting) });
    covered = to;
  }
  return { kind: 'laid', segments, overlaps };
}

function placesOf({ index, total, count }: Answer, size: number, counting: Counting): Places {
  const first = index * size;
  return counting === 'front'
    ? { from: first, to: first + count }
    : { from: total - first - count, to: total - first };
}

/** The pages, from 0, on which places stand where the list has so many records in all. */
export function indexesOf(
  { from, to }: Places,
  counting: Counting | null,
  size: number,
  total: number,
): number[] {
  const first = counting === 'back' ? total - to : from;
  const last = counting === 'back' ? total - 1 - from : to - 1;
  const indexes: number[] = [];
  for (let index = Math.floor(first / size); index <= Math.floor(last / size); index++) indexes.push(index);
  return indexes;
}

/** Which of an answer's items stand at some of its places. */
function itemsAt(answer: Answer, { from, to }: Places, size: number, counting: Counting): Places {
  const places = placesOf(answer, size, counting);
  return counting === 'front'
    ? { from: from - places.from, to: to - places.from }
    : { from: places.to - to, to: places.to - from };
}

/** Some items of a page. */
type SomeItems = readonly [digest: string, items: Places];

/** Whether items of two pages hold the same contents; null where one of the pages was not read. */
function holdTheSame([one, ofOne]: SomeItems, [other, ofOther]: SomeItems, itemsOf: ItemsOf): boolean | null {
  if (one === other && ofOne.from === ofOther.from) return true;
  const left = itemsOf(one);
  const right = itemsOf(other);
  if (left === null || right === null) return null;
  return slice(left.contents, ofOne).equals(slice(right.contents, ofOther));
}

/** The contents of some of a page's items. */
function slice(contents: Buffer, { from, to }: Places): Buffer {
  return contents.subarray(from * contentBytes, to * contentBytes);
}
