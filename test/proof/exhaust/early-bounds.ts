import { base, type Length, type NamedBound, shareOf } from './named-bound.ts';
import { wrongServices } from './service-bounds.ts';
import { tiesBounds } from './ties-bounds.ts';

/**
 * The bounds in which readings end early, before any answer, and the next run goes on with them. The list changes before, between and
 * after. Of pages up to four of six records the plan has enough by key to go on with; with smaller ones readings have to agree sooner.
 */
export function earlyBounds(length: Length): NamedBound[] {
  const changesMax = { short: 1, long: 2, whole: 3 }[length];
  const share = (oneOf: number) => shareOf(length, oneOf);
  const early = { ...base, order: 'id', endsMax: 1, changesMax: 1, areRowsTogether: true } as const;
  const ids = { ...early, recordsMin: 6, recordsMax: 6, largest: 4 } as const;
  const few = { ...early, recordsMin: 5, recordsMax: 6, largest: 3 } as const;
  const ties = { ...ids, order: 'ties', largest: 5, overlap: 2 } as const;
  const inOrder = [false, true].map(isDown => ({
    ...ids,
    isDown,
    name: `ended early, ids that ${isDown ? 'fall' : 'rise'}`,
    changesMax,
    ...share(10),
  }));
  if (length === 'short') return [...inOrder, { ...ties, name: 'ended early, ties', changesMax: 0 }];
  return [
    ...inOrder,
    ...[false, true].flatMap(isDown => {
      const how = isDown ? 'fall' : 'rise';
      return [
        { ...few, isDown, name: `ended early, pages up to 3, ${how}` },
        { ...ids, isDown, name: `ended early, each dead row, ${how}`, areRowsTogether: false },
        { ...ids, isDown, name: `ended early twice, ${how}`, endsMax: 2 },
        { ...ties, isDown, name: `ended early, ties that ${how}`, ...share(40) },
        { ...ids, isDown, name: `ended early, exported again, ${how}`, isExportedAgain: true },
      ];
    }),
    { ...ids, name: 'ended early, two requests under way', underWayMax: 2 },
    {
      ...ids,
      name: 'ended early, records come again',
      comesAgain: true,
      isPlain: true,
      changesMax,
      ...share(8),
    },
    ...tiesBounds(length, 1),
    { ...few, order: 'inverted', name: 'ended early, one inversion', changesMax, ...share(4) },
    { ...few, order: 'unseen', name: 'ended early, unseen order', recordsMin: 0, recordsMax: 4 },
    ...wrongServices.map(({ name, ...service }) => ({
      ...few,
      ...service,
      name: `ended early, ${name}`,
      // A total that can be of any moment makes many worlds.
      ...share(service.total === 'cached' ? 1000 : 12),
    })),
  ];
}
