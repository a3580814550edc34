import { base, type Length, type NamedBound, shareOf } from './named-bound.ts';
import { wrongServices } from './service-bounds.ts';

const threeRecords = { recordsMin: 3, recordsMax: 3 } as const;

/**
 * The bounds in which full scans have to agree, in a list whose order nobody sees. This rule can be wrong: changes in step with
 * both readings can hide a record from both. Within these bounds that does not happen.
 */
export const plainBounds: readonly NamedBound[] = [
  ...plainBoundsOfIds(),
  ...growingBounds(),
  ...plainBoundsUnseen(),
];

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

/** Lists of one page size whose keys are seen: their readings can agree up to the newest key. */
export function growingBounds(length: Length = 'whole'): NamedBound[] {
  return [false, true].flatMap(isDown => {
    const grown = { ...base, isDown, plain: 'one size', largest: 2, areRowsTogether: true } as const;
    const ids = { ...grown, order: 'id', changesMax: 2 } as const;
    const ties = { ...grown, order: 'ties', changesMax: 2, recordsMin: 3, recordsMax: 4 } as const;
    const how = isDown ? 'fall' : 'rise';
    return [
      { ...ids, name: `one size, ids that ${how}`, recordsMax: 4 },
      {
        ...ids,
        name: `one size, three ids that ${how}`,
        ...threeRecords,
        changesMax: 3,
        isPlain: true,
        ...shareOf(length, 4),
      },
      { ...ids, name: `one size, ids that ${how}, two requests under way`, ...threeRecords, underWayMax: 2 },
      { ...ids, name: `one size, ids that ${how}, records come again`, ...threeRecords, comesAgain: true },
      { ...ties, name: `one size, ties that ${how}`, every: 2, ...shareOf(length, 4) },
    ];
  });
}

function plainBoundsUnseen(): NamedBound[] {
  return (['one size', 'ignored sizes', 'two sizes'] as const).flatMap(plain => {
    const recordsMax = plain === 'two sizes' ? 3 : 4;
    const plainly = { ...base, order: 'unseen', plain, largest: 2, recordsMin: 3, recordsMax } as const;
    return [
      { ...plainly, name: `full scans by ${plain}`, changesMax: 2, every: plain === 'two sizes' ? 2 : 1 },
      ...wrongServices.map(({ name, ...service }) => ({
        ...plainly,
        ...service,
        growsAtEnd: false,
        name: `full scans by ${plain}, ${name}`,
        changesMax: 1,
      })),
    ];
  });
}
