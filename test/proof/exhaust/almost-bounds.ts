import { base, type NamedBound } from './named-bound.ts';

const even = (count: number) => Array.from({ length: count }, (_, at) => (at + 1) * 256);

/**
 * The bounds of lists that are almost in order: every order of some keys that a slack allows, with a slack that an earlier run has seen or
 * that this one sees, and with one record that is anywhere.
 */
export function almostBounds(changesMax: number): NamedBound[] {
  const bounds: NamedBound[] = [];
  for (const order of ['id', 'ties'] as const) {
    const withTie = (keys: number[]) =>
      order === 'ties' ? [...keys, keys[1] as number].sort((a, b) => a - b) : keys;
    const each = { ...base, order, recordsMax: 9, changesMax, areRowsTogether: changesMax > 0 };
    for (const [isLearnt, strays] of [
      [true, 0],
      [false, 0],
      [true, 1],
    ] as const) {
      const what = `${order}, slack ${isLearnt ? 'remembered' : 'seen'}${strays > 0 ? ', a stray' : ''}`;
      // There are many places for a stray, and many changes of ties.
      const every = changesMax === 0 ? 1 : (strays > 0 ? 8 : 1) * (order === 'ties' ? 3 : 1);
      const known = { ...each, isLearnt, strays, every };
      // A slack that no page has shown is only safe if the list is proven as a whole.
      for (const [name, keys, slack] of [
        ['1 step', even(4), 256],
        ['2 steps', even(4), 512],
        ['pairs', [256, 264, 512, 520], 8],
      ] as const)
        if (isLearnt)
          bounds.push({
            ...known,
            name: `almost, any pages, ${what}, ${name}`,
            keys: withTie([...keys]),
            slack,
            largest: 4,
            anyPages: 2,
          });
      for (const isDown of [false, true])
        for (const [name, keys, slack, largest, overlap] of [
          ['pairs', [256, 264, 512, 520, 768, 776], 8, 6, 2],
          ['threes', [256, 264, 272, 512, 768, 776], 16, 6, 2],
          ['1 step', even(7), 256, 7, 3],
        ] as const)
          bounds.push({
            ...known,
            name: `almost, ${what}, ${name}, ${isDown ? 'down' : 'up'}`,
            keys: withTie([...keys]),
            slack,
            isDown,
            largest,
            overlap,
          });
    }
    bounds.push({
      ...each,
      name: `almost, any pages, ${order}, more changes`,
      keys: even(2),
      slack: 256,
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
      slack: 8,
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
        slack: 8,
        isLearnt: true,
        isDown,
        largest: 7,
        overlap: 2,
        changesMax: changesMax + 1,
      });
    // A page can show more slack than an incremental sync knows: its windows are then smaller, and what they show is no less true.
    bounds.push({
      ...each,
      name: `almost, growth, ${order}, more slack than is known`,
      isGrowth: true,
      keys: even(5),
      slack: 264,
      learntSlack: 8,
      isLearnt: true,
      largest: 7,
      overlap: 2,
      changesMax: changesMax + 1,
    });
  }
  return bounds;
}
