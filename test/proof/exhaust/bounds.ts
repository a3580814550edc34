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
export const plainBounds: readonly NamedBound[] = (['one size', 'ignored sizes', 'two sizes'] as const).flatMap(plain => {
  const plainly = { ...base, order: 'unseen', plain, largest: 2, recordsMin: 3, recordsMax: 4 } as const;
  return [
    { ...plainly, name: `plain readings by ${plain}`, changesMax: 2 },
    ...wrongServices.map(quirk => ({
      ...plainly,
      name: `plain readings by ${plain}, ${quirk}`,
      quirk,
      changesMax: 1,
    })),
  ];
});

/**
 * The bounds for a length. The whole product of lists, changes, requests and mirrors is too large, so each bound is wide in one
 * direction. If keys repeat, pages have to overlap by two records. No plan of pages of one to three does that, so any pages are asked
 * for. The number of the first page is only its name, so both are one world. The fate of a row depends on no other row. So an empty
 * mirror, and mirrors of all listed records and dead rows, are as good as all mirrors.
 */
export function boundsOf(length: Length): NamedBound[] {
  const changes = { short: 0, long: 1, whole: 2 }[length];
  const ids = { ...base, order: 'id', recordsMax: 4 } as const;
  const ties = { ...base, order: 'ties' } as const;
  const unseen = { ...base, order: 'unseen' } as const;
  return [
    ...[1, 2, 3].map(largest => ({
      ...ids,
      name: `ids, pages up to ${largest}`,
      largest,
      changesMax: largest === 3 ? changes + 1 : changes,
    })),
    { ...ids, name: 'ids, two requests under way', largest: 3, underWayMax: 2, changesMax: changes },
    { ...ids, name: 'ids that fall', isDown: true, largest: 3, changesMax: changes },
    {
      ...ids,
      name: 'ids, any three pages',
      recordsMax: 3,
      largest: 3,
      anyPages: length === 'short' ? 2 : 3,
      changesMax: changes,
    },
    { ...ties, name: 'ties, pages up to 3', largest: 3, recordsMax: 4, changesMax: Math.min(1, changes) },
    {
      ...ties,
      name: 'ties, any three pages',
      largest: 3,
      recordsMax: 3,
      anyPages: length === 'short' ? 2 : 3,
      changesMax: Math.min(1, changes),
    },
    {
      ...ties,
      name: 'ties, pages up to 5',
      largest: 5,
      overlap: 2,
      recordsMin: 5,
      recordsMax: 6,
      changesMax: Math.min(1, changes),
    },
    {
      ...ties,
      name: 'ties, two requests under way',
      largest: 5,
      overlap: 2,
      recordsMin: 6,
      recordsMax: 6,
      underWayMax: 2,
      changesMax: Math.min(1, changes),
    },
    {
      ...ties,
      name: 'ties that fall',
      isDown: true,
      largest: 6,
      overlap: 2,
      recordsMin: 6,
      recordsMax: 6,
      changesMax: Math.min(1, changes),
    },
    { ...unseen, name: 'unseen order, pages up to 4', largest: 4, recordsMax: 4, changesMax: changes },
    {
      ...unseen,
      name: 'unseen order, pages up to 5',
      largest: 5,
      recordsMin: 5,
      recordsMax: 5,
      changesMax: changes,
    },
    {
      ...unseen,
      name: 'unseen order, two requests under way',
      largest: 5,
      recordsMin: 5,
      recordsMax: 5,
      underWayMax: 2,
      changesMax: Math.min(1, changes),
    },
    {
      ...unseen,
      order: 'name',
      name: 'ids in another order',
      largest: 5,
      recordsMin: 4,
      recordsMax: 5,
      changesMax: Math.min(1, changes),
    },
    {
      ...ids,
      order: 'inverted',
      name: 'ids with one inversion',
      largest: 3,
      recordsMin: 5,
      recordsMax: 5,
      changesMax: changes + 1,
    },
    ...[false, true].map(isDown => ({
      ...ids,
      name: `growth, ids that ${isDown ? 'fall' : 'rise'}`,
      isGrowth: true,
      isDown,
      recordsMax: 5,
      largest: 3,
      changesMax: changes + 1,
    })),
    ...[false, true].map(isDown => ({
      ...ties,
      name: `growth, ties that ${isDown ? 'fall' : 'rise'}`,
      isGrowth: true,
      isDown,
      largest: 5,
      overlap: 2,
      recordsMax: 6,
      changesMax: Math.min(2, changes + 1),
    })),
    ...wrongServices.flatMap(quirk => [
      { ...ids, name: `ids, ${quirk}`, quirk, largest: 3, changesMax: changes },
      {
        ...unseen,
        name: `unseen order, ${quirk}`,
        quirk,
        largest: 5,
        recordsMax: 5,
        changesMax: Math.min(1, changes),
      },
    ]),
  ];
}
