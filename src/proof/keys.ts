// Of all phases, their words: keys, in the order of the list. docs/proof.md has the rules, with a picture of windows.

/** Records have the service's id, which is the key; or none, and the key is then a time that can be shared. */
export type Identity = 'id' | 'content';

/** The direction in which the keys of a list rise, or fall. */
export type Direction = 'up' | 'down';

/** Keys from one to another, in the order of the list: if the keys of a list fall they are negated. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
  /** Whether the keys at the edges belong to it. */
  readonly isFromIn: boolean;
  readonly isToIn: boolean;
}

/** Every key. */
export const allKeys: KeyRange = {
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  isFromIn: true,
  isToIn: true,
};

/** A key in the order of the list, and back. */
export const inOrder = (key: number, direction: Direction): number => (direction === 'up' ? key : -key);

/** Whether a key, in the order of the list, is in a range. */
export function isIn(key: number, { from, to, isFromIn, isToIn }: KeyRange): boolean {
  return (key > from || (isFromIn && key === from)) && (key < to || (isToIn && key === to));
}

/** A range of keys as they are in the records: from the lower to the higher one. */
export function keysOf(range: KeyRange, direction: Direction): KeyRange {
  if (direction === 'up') return range;
  return { from: -range.to, to: -range.from, isFromIn: range.isToIn, isToIn: range.isFromIn };
}
