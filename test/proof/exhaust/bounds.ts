import { almostBounds } from './almost-bounds.ts';
import { base, type Length, type NamedBound, shareOf } from './named-bound.ts';
import { serviceBounds } from './service-bounds.ts';
import { tiesBounds } from './ties-bounds.ts';

/**
 * The bounds for a length. The whole product of lists, changes, requests and mirrors is too large, so each bound is wide in one
 * direction. If keys repeat, pages have to overlap by two records. No plan of pages of one to three does that, so any pages are asked
 * for. The number of the first page is only its name, so both are one world. The decision on a row depends on no other row. So an empty
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
    ...serviceBounds(length),
    ...tiesBounds(length),
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
  // A time is shared by several records, so a page does not cover its edges.
  const times = {
    order: 'ties',
    largest: 5,
    overlap: 2,
    recordsMin: 6,
    recordsMax: 6,
    every: length === 'short' ? 8 : 2,
  } as const;
  const nodes = { ...few, changesMax: changesMax + 1, hasTwoNodes: true } as const;
  return [false, true].flatMap(isDown => {
    const how = isDown ? 'fall' : 'rise';
    return [
      { ...again, isDown, order: 'id', name: `ids that ${how}, records come again` },
      {
        ...again,
        isDown,
        order: 'ties',
        name: `ties that ${how}, records come again`,
        every: 7,
        ...shareOf(length, 4),
      },
      {
        ...exportedAgain,
        isDown,
        changesMax: Math.min(2, changesMax + 1),
        name: `ids that ${how}, exported again`,
      },
      { ...exportedAgain, ...times, isDown, name: `times that ${how}, exported again` },
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
