// Proof by windows
// ================
//
// The service hands out pages, and records come and go between two of them. But one answer is one moment: it shows a contiguous piece of
// the list. If the list is in the order of a key that can be seen and can't change (an id, or a time that is part of the record), then an
// answer is a window on the keys: of every key between its first and its last one it says which records have it.
//
//     keys      1   2   3   4   5   6   7   8   9  10  11  12
//     monday    |---a---b-------c---d--|                             first page: it also speaks of all keys before
//     09:00                      [--c---d-------e---f--]
//     09:01                                      [--e---f---g-----|  not full, and its total says so: all keys after
//
// The three answers are of three moments, and nothing had to stand still meanwhile. Together they speak of every key. Each shares a
// record with the next: d with d, e with e. That shows that the order is really one order, and that no piece lies between two windows.
// So a record that was listed all the time is on one of them, and a record that is on none of them was not listed all the time.
// The list is proven: what is shown is in the mirror, and what is not shown is gone.
//
// What can go wrong, and what the rules say of it:
//
// - Two records share a key, 5 say, and a page ends between them. Then the window says nothing of the key 5 (`isFromIn`, `isToIn`).
//   Another window must, in which 5 is not at the edge. This is why neighbouring pages overlap.
// - A page is not full although the list goes on (a filter after paging, a size that is cut in silence). Only pages whose own total
//   says that the list ends there speak of what comes after, and only if no total of the run contradicts its page (end.ts).
// - A key can't be read, or an answer is out of order: then there are no windows on keys. Windows that share a record still hang
//   together (overlap.ts), and if that proves nothing, two complete readings have to agree.
// - Between two windows is a gap. Pages are asked for in which the gap lies well inside (repairs.ts).
// - A record would go because no answer shows it. A cache may have kept those answers. So another window has to say the same,
//   asked for later and at an address that was not used for days (second-look.ts).

import { checkTotal, isOfEmptyList } from './end.ts';
import type { Direction } from './order.ts';
import type { Identity, PageAnswer } from './page.ts';

/** Keys from one to another, in the order of the list: in a list whose keys fall they are negated. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
  /** Whether the keys at the edges belong to it. */
  readonly isFromIn: boolean;
  readonly isToIn: boolean;
}

/** The keys that an answer speaks of. */
export interface Window extends KeyRange {
  readonly answer: PageAnswer;
}

/** All keys. */
export const allKeys: KeyRange = {
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  isFromIn: true,
  isToIn: true,
};

/** A key in the order of the list, and back. */
export function inOrder(key: number, direction: Direction): number {
  return direction === 'up' ? key : -key;
}

/**
 * The keys that an answer speaks of; null if there are none.
 *
 * @param ends whether the answer ends the list, as `endingAnswers` tells.
 */
export function windowOf(
  answer: PageAnswer,
  ends: boolean,
  direction: Direction,
  identity: Identity,
): Window | null {
  if (isOfEmptyList(answer)) return ends ? { ...allKeys, answer } : null;
  const { count, firstKey, lastKey } = answer.summary;
  if (count === 0 || checkTotal(answer) === 'silent') return null;
  const isFirst = answer.index === 0;
  const areEdgesIn = identity === 'id'; // guard: ties at the edges
  return {
    answer,
    from: isFirst ? Number.NEGATIVE_INFINITY : inOrder(firstKey, direction),
    to: ends ? Number.POSITIVE_INFINITY : inOrder(lastKey, direction),
    isFromIn: isFirst || areEdgesIn,
    isToIn: ends || areEdgesIn,
  };
}

/** Whether a key, in the order of the list, lies in a range. */
export function isIn(key: number, { from, to, isFromIn, isToIn }: KeyRange): boolean {
  return (key > from || (isFromIn && key === from)) && (key < to || (isToIn && key === to));
}

/** A range of keys as they are in the records: from the lower to the higher one. */
export function keysOf(range: KeyRange, direction: Direction): KeyRange {
  if (direction === 'up') return range;
  return { from: -range.to, to: -range.from, isFromIn: range.isToIn, isToIn: range.isFromIn };
}
