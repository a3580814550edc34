/** One of the merged series, with its next value. */
interface Series<T> {
  readonly rest: Iterator<T>;
  next: T;
}

/**
 * Merges sorted series into one; if values are equal, the earlier series' goes first. It keeps no values in memory.
 *
 * @param series each is read from when it is asked for, so that it is closed whatever happens.
 * @param isBefore whether one goes before another.
 */
export function* mergeSorted<T>(
  series: readonly (() => Iterable<T>)[],
  isBefore: (one: T, other: T) => boolean,
): Generator<T> {
  const open: Series<T>[] = [];
  try {
    for (const begin of series) {
      const rest = begin()[Symbol.iterator]();
      const first = rest.next();
      if (!first.done) open.push({ rest, next: first.value });
    }
    while (open.length > 0) {
      const [least, second] = leastTwo(open, isBefore);
      // Several values in a row often come from one series: one comparison each is then enough.
      do {
        yield least.next;
        const following = least.rest.next();
        if (following.done) {
          open.splice(open.indexOf(least), 1);
          break;
        }
        least.next = following.value;
      } while (second === undefined || isBefore(least.next, second.next));
    }
  } finally {
    // An unfinished statement would keep its connection from being closed.
    for (const { rest } of open) rest.return?.();
  }
}

/** The series whose next value goes first, and the one that would follow it. */
function leastTwo<T>(
  open: readonly Series<T>[],
  isBefore: (one: T, other: T) => boolean,
): [least: Series<T>, second: Series<T> | undefined] {
  let least = open[0] as Series<T>;
  let second: Series<T> | undefined;
  for (const each of open.slice(1)) {
    if (isBefore(each.next, least.next)) {
      second = least;
      least = each;
    } else if (second === undefined || isBefore(each.next, second.next)) second = each;
  }
  return [least, second];
}
