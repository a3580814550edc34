import { base, type Length, type NamedBound, shareOf } from './named-bound.ts';

/** How many records have each key, in the order of the keys. Pages of up to eight end inside some of these ties. */
const lists = [
  [1, 1, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1, 3, 1],
  [1, 1, 1, 1, 1, 1, 3, 2, 2, 1, 4, 1, 1, 1],
  [3, 1, 1, 1, 1, 3, 1, 2, 4, 1, 3, 1],
];

/** The keys of such a list; rows that were gone before the run have the same keys, and keys between them. */
const keysOf = (counts: readonly number[]) =>
  counts.flatMap((count, at) => new Array<number>(count).fill((at + 1) * 128));

/**
 * The bounds of lists of which an earlier run has seen that records share keys, so that pages are planned by them: with a mirror that fits, and
 * with one that has more rows than the list.
 *
 * @param endsMax how often the reading can end early.
 */
export function tiesBounds(length: Length, endsMax = 0): NamedBound[] {
  const changesMax = { short: 0, long: 1, whole: 2 }[length];
  return [false, true].flatMap(isDown =>
    lists.map((counts, at) => ({
      ...base,
      name: `${endsMax > 0 ? 'ended early, ' : ''}known ties that ${isDown ? 'fall' : 'rise'}, list ${at + 1}`,
      order: 'ties' as const,
      keys: keysOf(counts),
      recordsMax: 20,
      lateness: 0,
      isLearnt: true,
      isDown,
      largest: 8,
      overlap: 2,
      changesMax,
      endsMax,
      areRowsTogether: changesMax > 1,
      ...(endsMax > 0 ? shareOf(length, 12) : {}),
    })),
  );
}
