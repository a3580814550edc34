import { base, type Length, type NamedBound } from './named-bound.ts';
import { wrongServices } from './service-bounds.ts';

/** The bounds in which readings end early, before any answer, and the next run goes on with them. The list changes before, between and after. */
export function earlyBounds(length: Length): NamedBound[] {
  const changesMax = { short: 1, long: 2, whole: 3 }[length];
  const few = Math.min(2, changesMax);
  const ids: Omit<NamedBound, 'name'> = {
    ...base,
    order: 'id',
    recordsMin: 4,
    recordsMax: 6,
    largest: 3,
    changesMax,
    endsMax: 1,
    areRowsTogether: true,
  };
  const ties = { ...ids, order: 'ties', largest: 5, overlap: 2, recordsMin: 5, changesMax: 1 } as const;
  const each = length === 'whole' ? 1 : 2;
  if (length === 'short')
    return [
      { ...ids, name: 'ended early, ids that rise', recordsMin: 5, recordsMax: 5 },
      { ...ids, name: 'ended early, ids that fall', recordsMin: 5, recordsMax: 5, isDown: true },
      { ...ids, name: 'ended early, pages up to 4', recordsMin: 6, largest: 4 },
      { ...ties, name: 'ended early, ties', recordsMin: 6, changesMax: 0 },
    ];
  return [
    ...[false, true].flatMap(isDown => {
      const how = isDown ? 'fall' : 'rise';
      return [
        { ...ids, isDown, name: `ended early, ids that ${how}` },
        { ...ids, isDown, name: `ended early, each dead row, ${how}`, changesMax: 1, areRowsTogether: false },
        { ...ids, isDown, name: `ended early twice, ${how}`, recordsMin: 5, endsMax: 2, changesMax: few },
        { ...ties, isDown, name: `ended early, ties that ${how}`, every: each },
        { ...ids, isDown, name: `ended early, exported again, ${how}`, isExportedAgain: true, recordsMax: 5 },
      ];
    }),
    { ...ids, name: 'ended early, pages up to 4', largest: 4, recordsMin: 6 },
    { ...ids, name: 'ended early, two requests under way', underWayMax: 2, changesMax: few, recordsMax: 5 },
    { ...ids, name: 'ended early, records come again', comesAgain: true, isPlain: true, changesMax: few },
    { ...ids, order: 'inverted', name: 'ended early, one inversion', recordsMax: 5, changesMax: few },
    { ...ids, order: 'unseen', name: 'ended early, unseen order', recordsMax: 4, changesMax: 1 },
    ...wrongServices.map(({ name, ...service }) => ({
      ...ids,
      ...service,
      name: `ended early, ${name}`,
      recordsMin: 5,
      recordsMax: 5,
      changesMax: 1,
    })),
  ];
}
