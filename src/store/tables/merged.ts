/**
 * Joins two series, each in its order, into one in that order; nothing is held of either.
 *
 * @param left is read from when it is asked for, so that it is closed whatever happens.
 * @param isBefore whether something of `right` goes before something of `left`.
 */
export function* merged<T>(
  left: () => Iterable<T>,
  right: Iterable<T>,
  isBefore: (right: T, left: T) => boolean,
): Generator<T> {
  const rest = right[Symbol.iterator]();
  try {
    let next = rest.next();
    for (const each of left()) {
      for (; !next.done && isBefore(next.value, each); next = rest.next()) yield next.value;
      yield each;
    }
    for (; !next.done; next = rest.next()) yield next.value;
  } finally {
    // A statement that is left half read would keep its connection from being closed.
    rest.return?.();
  }
}
