// Proof by windows
// ================
//
// The service serves pages, and records are added and removed between two of them. But one answer is one moment: it shows a
// contiguous piece of the list. Suppose that the list is in the order of a key that is visible and can't change. The key is an id,
// or a time that is part of the record. Then an answer is a window on the keys: for every key between its first and its last one, it
// says which records have it. Three answers, for example, are these windows.
//
//     Keys      1   2   3   4   5   6   7   8   9  10  11  12
//     Monday    |---a---b-------c---d--|                             first page: it also covers all keys before.
//     At 09:00                   [--c---d-------e---f--]
//     At 09:01                                   [--e---f---g-----|  not full, and its total says so: all keys after.
//
// They are of three moments, and the list can have changed meanwhile. Together they cover every key. Each shares a record with the
// next: d with d, e with e. That shows that the order is really one order, and that no piece is between two windows.
// So a record that was listed all the time is on one of them, and a record that is on none of them was not listed all the time.
// The list is proven: records that are shown are in the mirror, and records that are not shown are gone.
//
// The rules also handle what can go wrong.
//
// * Two records share a key, for example 5, and a page ends between them. Then the window does not cover the key 5 (`isFromIn`,
//   `isToIn`). Another window must cover it, with 5 not at its edge. This is why neighbouring pages overlap.
// * A page is not full although the list goes on (a filter after paging, a size that is cut silently). Only pages whose own total
//   says that the list ends there cover the keys after them. This needs that no total of the run contradicts its page (end.ts).
// * A key can't be read, or an answer is out of order: then there are no windows on keys. Windows that share a record are still
//   linked (overlap.ts). If that proves nothing, two complete readings have to agree.
// * There is a gap between two windows. Pages are asked for that have the gap well inside (repairs.ts).
// * A record would be removed because no answer shows it. A cache might have kept those answers. So another window has to say the
//   same, asked for later and at an address that was not used for days (second-look.ts).

import { checkTotal, isOfEmptyList } from './end.ts';
import type { Direction } from './order.ts';
import type { Identity, PageAnswer } from './page.ts';

/** Keys from one to another, in the order of the list: if the keys of a list fall they are negated. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
  /** Whether the keys at the edges belong to it. */
  readonly isFromIn: boolean;
  readonly isToIn: boolean;
}

/** The keys that an answer covers. */
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
 * The keys that an answer covers; null if there are none.
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

/** Whether a key, in the order of the list, is in a range. */
export function isIn(key: number, { from, to, isFromIn, isToIn }: KeyRange): boolean {
  return (key > from || (isFromIn && key === from)) && (key < to || (isToIn && key === to));
}

/** A range of keys as they are in the records: from the lower to the higher one. */
export function keysOf(range: KeyRange, direction: Direction): KeyRange {
  if (direction === 'up') return range;
  return { from: -range.to, to: -range.from, isFromIn: range.isToIn, isToIn: range.isFromIn };
}
