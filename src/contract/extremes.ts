/** The least of some numbers; positive infinity if there are none. The arguments of `Math.min` lie on the stack, which some 125,000 fill. */
export function leastOf(numbers: Iterable<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const number of numbers) least = Math.min(least, number);
  return least;
}

/** The greatest of some numbers; minus infinity if there are none. */
export function greatestOf(numbers: Iterable<number>): number {
  let greatest = Number.NEGATIVE_INFINITY;
  for (const number of numbers) greatest = Math.max(greatest, number);
  return greatest;
}
