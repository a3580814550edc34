import type { Bound } from './every-world.ts';
import type { SmallQuirk } from './small-world.ts';

/** How long it can take: seconds, about a minute, or some minutes on one core. */
export type Length = 'short' | 'long' | 'whole';

const base = { quirk: 'none', isDown: false, overlap: 1, recordsMin: 0, underWayMax: 1 } as const;

/** A bound, and what it is about in a few words. */
export interface NamedBound extends Bound {
  readonly name: string;
  /** True if incremental syncs are played, not full ones. */
  readonly isGrowth?: boolean;
}

const wrongServices: readonly SmallQuirk[] = [
  'filter',
  'filtered total',
  'cut sizes',
  'empty beyond',
  'last page again',
  'one total short',
  'cut sizes, no total',
];

/**
 * The bounds in which plain readings have to agree, in a list whose order nobody sees. This rule can be wrong: changes in step with
 * both readings can hide a record from both. Within these bounds that does not happen.
 */
export const plainBounds: readonly NamedBound[] = [...plainBoundsOfIds(), ...plainBoundsUnseen()];

/** Records go, and come again under their ids, which looks like an edit; or each text is written in two ways. */
function plainBoundsOfIds(): NamedBound[] {
  const threes = { ...base, recordsMin: 3, recordsMax: 3, largest: 2, areRowsTogether: true } as const;
  const again = { ...threes, plain: 'one size', changesMax: 3, isPlain: true, comesAgain: true } as const;
  const unseen = { ...threes, order: 'unseen', changesMax: 2 } as const;
  return [
    { ...again, order: 'id', name: 'readings of three ids that rise' },
    { ...again, order: 'id', name: 'readings of three ids that fall', isDown: true },
    ...(['one size', 'two sizes'] as const).flatMap(plain => [
      { ...unseen, plain, name: `readings by ${plain}, records come again`, isPlain: true, comesAgain: true },
      { ...unseen, plain, name: `readings by ${plain}, two nodes`, hasTwoNodes: true },
    ]),
  ];
}

function plainBoundsUnseen(): NamedBound[] {
  return (['one size', 'ignored sizes', 'two sizes'] as const).flatMap(plain => {
    const recordsMax = plain === 'two sizes' ? 3 : 4;
    const plainly = { ...base, order: 'unseen', plain, largest: 2, recordsMin: 3, recordsMax } as const;
    return [
      { ...plainly, name: `plain readings by ${plain}`, changesMax: 2, every: plain === 'two sizes' ? 2 : 1 },
      ...wrongServices.map(quirk => ({
        ...plainly,
        name: `plain readings by ${plain}, ${quirk}`,
        quirk,
        changesMax: 1,
      })),
    ];
  });
}

/**
 * The bounds for a length. The whole product of lists, changes, requests and mirrors is too large, so each bound is wide in one
 * direction. If keys repeat, pages have to overlap by two records. No plan of pages of one to three does that, so any pages are asked
 * for. The number of the first page is only its name, so both are one world. The fate of a row depends on no other row. So an empty
 * mirror, and mirrors of all listed records and dead rows, are as good as all mirrors.
 */
export function boundsOf(length: Length): NamedBound[] {
  const changesMax = { short: 0, long: 1, whole: 2 }[length];
  const few = Math.min(1, changesMax);
  const areRowsTogether = changesMax > 1;
  const anyPages = length === 'short' ? 2 : 3;
  const ids = { ...base, order: 'id', recordsMax: 4, largest: 3, changesMax } as const;
  const wideIds = { ...ids, areRowsTogether };
  const ties = { ...base, order: 'ties', largest: 5, overlap: 2, changesMax: few, areRowsTogether } as const;
  const unseen = { ...base, order: 'unseen', largest: 5, recordsMin: 5, recordsMax: 5, changesMax } as const;
  const almost = { short: [], long: almostBounds(0), whole: almostBounds(1) }[length];
  return [
    ...almost,
    { ...wideIds, name: 'ids, pages up to 1', largest: 1 },
    { ...wideIds, name: 'ids, pages up to 2', largest: 2 },
    { ...wideIds, name: 'ids, pages up to 3', changesMax: changesMax + 1 },
    { ...ids, name: 'ids, two requests under way', underWayMax: 2 },
    { ...ids, name: 'ids that fall', isDown: true },
    { ...ids, name: 'ids, any three pages', recordsMax: 3, anyPages },
    { ...ties, name: 'ties, pages up to 3', largest: 3, overlap: 1, recordsMax: 4 },
    { ...ties, name: 'ties, any three pages', largest: 3, overlap: 1, recordsMax: 3, anyPages },
    { ...ties, name: 'ties, pages up to 5', recordsMin: 5, recordsMax: 6 },
    {
      ...ties,
      name: 'ties, two requests under way',
      recordsMin: 5,
      recordsMax: 5,
      underWayMax: 2,
      isPlain: true,
      every: length === 'whole' ? 7 : 1,
      changesMax: length === 'whole' ? 1 : 0,
    },
    { ...ties, name: 'ties that fall', isDown: true, largest: 6, recordsMin: 6, recordsMax: 6 },
    { ...unseen, name: 'unseen order, pages up to 4', largest: 4, recordsMin: 0, recordsMax: 4 },
    { ...unseen, name: 'unseen order, pages up to 5' },
    { ...unseen, name: 'unseen order, two requests under way', underWayMax: 2, changesMax: few },
    { ...unseen, order: 'name', name: 'ids in another order', recordsMin: 4, changesMax: few },
    {
      ...wideIds,
      order: 'inverted',
      name: 'ids with one inversion',
      recordsMin: 5,
      recordsMax: 5,
      changesMax: changesMax + 1,
    },
    ...[false, true].flatMap(isDown => {
      const growth = { isGrowth: true, isDown, changesMax: changesMax + 1 };
      const how = isDown ? 'fall' : 'rise';
      return [
        { ...ids, ...growth, name: `growth, ids that ${how}`, recordsMax: 5 },
        { ...ties, ...growth, name: `growth, ties that ${how}`, recordsMax: 6, changesMax: few + 1 },
      ];
    }),
    ...recordBounds(length),
    ...wrongServices.flatMap(quirk => [
      { ...wideIds, name: `ids, ${quirk}`, quirk },
      { ...unseen, name: `unseen order, ${quirk}`, quirk, recordsMin: 0, changesMax: few },
    ]),
  ];
}

/** The bounds in which records come again, have a new key, or are written in two ways. */
function recordBounds(length: Length): NamedBound[] {
  const changesMax = { short: 0, long: 1, whole: 2 }[length];
  const few = { ...base, largest: 3, recordsMin: 0, recordsMax: 3, areRowsTogether: true } as const;
  const again = {
    ...few,
    recordsMin: 3,
    changesMax: changesMax + 1,
    isPlain: true,
    comesAgain: true,
  } as const;
  const nodes = { ...few, changesMax: changesMax + 1, hasTwoNodes: true } as const;
  return [false, true].flatMap(isDown => {
    const how = isDown ? 'fall' : 'rise';
    return [
      { ...again, isDown, order: 'id', name: `ids that ${how}, records come again` },
      { ...again, isDown, order: 'ties', name: `ties that ${how}, records come again`, every: 7 },
      { ...exportedAgain, isDown, name: `ids that ${how}, exported again` },
      { ...nodes, isDown, order: 'id', name: `ids that ${how}, two nodes` },
      { ...nodes, isDown, order: 'ties', name: `ties that ${how}, two nodes`, every: 9 },
    ] as const;
  });
}

/** A record that is exported again goes from its place and comes at another one in the same moment, so that no total moves. */
export const exportedAgain = {
  ...base,
  order: 'id',
  largest: 3,
  recordsMax: 5,
  changesMax: 1,
  areRowsTogether: true,
  isExportedAgain: true,
} as const;

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
