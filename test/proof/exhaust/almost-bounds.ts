import { base, type NamedBound } from './named-bound.ts';

const even = (count: number) => Array.from({ length: count }, (_, at) => (at + 1) * 256);

/**
 * The bounds of lists that are almost in order: every order of some keys that a lateness allows, with a lateness that an earlier run has seen or
 * that this one sees, and with one record that is anywhere.
 */
export function almostBounds(changesMax: number): NamedBound[] {
  const bounds: NamedBound[] = [];
  for (const order of ['id', 'ties'] as const) {
    const withTie = (keys: number[]) =>
      order === 'ties' ? [...keys, keys[1] as number].sort((a, b) => a - b) : keys;
    const each = { ...base, order, recordsMax: 9, changesMax, areRowsTogether: changesMax > 0 };
    for (const [isLearnt, outliers] of [
      [true, 0],
      [false, 0],
      [true, 1],
    ] as const) {
      const what = `${order}, lateness ${isLearnt ? 'remembered' : 'seen'}${outliers > 0 ? ', an outlier' : ''}`;
      // There are many places for an outlier, and many changes of ties.
      const every = changesMax === 0 ? 1 : (outliers > 0 ? 8 : 1) * (order === 'ties' ? 3 : 1);
      const known = { ...each, isLearnt, outliers, every };
      // A lateness that no page has shown is only safe if the list is proven as a whole.
      for (const [name, keys, lateness] of [
        ['1 step', even(4), 256],
        ['2 steps', even(4), 512],
        ['pairs', [256, 264, 512, 520], 8],
      ] as const)
        if (isLearnt)
          bounds.push({
            ...known,
            name: `almost, any pages, ${what}, ${name}`,
            keys: withTie([...keys]),
            lateness,
            largest: 4,
            anyPages: 2,
          });
      for (const isDown of [false, true])
        for (const [name, keys, lateness, largest, overlap] of [
          ['pairs', [256, 264, 512, 520, 768, 776], 8, 6, 2],
          ['threes', [256, 264, 272, 512, 768, 776], 16, 6, 2],
          ['1 step', even(7), 256, 7, 3],
        ] as const)
          bounds.push({
            ...known,
            name: `almost, ${what}, ${name}, ${isDown ? 'down' : 'up'}`,
            keys: withTie([...keys]),
            lateness,
            isDown,
            largest,
            overlap,
          });
    }
    bounds.push({
      ...each,
      name: `almost, any pages, ${order}, more changes`,
      keys: even(2),
      lateness: 256,
      isLearnt: true,
      recordsMax: 2,
      largest: 3,
      anyPages: 2,
      isPlain: true,
      changesMax: changesMax === 0 ? 0 : 3,
      every: changesMax === 0 ? 1 : 2,
    });
    bounds.push({
      ...each,
      name: `almost, ${order}, unstable pairs`,
      keys: withTie([256, 264, 512, 520, 768, 776]),
      lateness: 8,
      isLearnt: true,
      largest: 6,
      overlap: 2,
      isUnstable: true,
    });
    for (const isDown of [false, true])
      bounds.push({
        ...each,
        name: `almost, growth, ${order}, ${isDown ? 'down' : 'up'}`,
        isGrowth: true,
        keys: [256, 512, 520, 768, 776, 1024, 1032],
        lateness: 8,
        isLearnt: true,
        isDown,
        largest: 7,
        overlap: 2,
        changesMax: changesMax + 1,
      });
    // A page can show more lateness than an incremental sync knows: its windows are then smaller, and what they show is no less true.
    bounds.push({
      ...each,
      name: `almost, growth, ${order}, more lateness than is known`,
      isGrowth: true,
      keys: even(5),
      lateness: 264,
      learntLateness: 8,
      isLearnt: true,
      largest: 7,
      overlap: 2,
      changesMax: changesMax + 1,
    });
  }
  return bounds;
}
