import { base, type Length, type NamedBound, shareOf } from './named-bound.ts';
import type { ServiceOptions, SmallQuirk, SmallTotal } from './small-service.ts';

/** A service that leaves something out, or whose totals are wrong. */
export interface WrongService extends ServiceOptions {
  readonly name: string;
}

const quirks: readonly SmallQuirk[] = [
  'none',
  'filter',
  'cut sizes',
  'byte cap',
  'empty beyond',
  'window',
  'last page again',
  'last page missing',
  'whole pages',
];
const totals: readonly SmallTotal[] = ['right', 'none', 'one less', 'one more', 'cached'];

/** Every way of leaving something out, each with every kind of total. */
export const wrongServices: readonly WrongService[] = quirks.flatMap(quirk => {
  const kinds: readonly SmallTotal[] = quirk === 'filter' ? [...totals, 'visible'] : totals;
  return kinds
    .filter(total => quirk !== 'none' || total !== 'right')
    .map(total => ({ name: `${quirk === 'none' ? '' : `${quirk}, `}${total} total`, quirk, total }));
});

/**
 * The bounds of services that leave something out, or whose totals are wrong. Two limits are known: a page that a service cuts where a wrong
 * total ends (`hasCutAtTotal`), and a record near the end that is too long for every page. The first is not judged, the other not played.
 */
export function serviceBounds(length: Length): NamedBound[] {
  const changesMax = { short: 0, long: 1, whole: 2 }[length];
  const few = Math.min(1, changesMax);
  const ids = { ...base, order: 'id', recordsMax: 5, largest: 3, changesMax, areRowsTogether: true } as const;
  const unseen = { ...base, order: 'unseen', recordsMax: 5, largest: 5, changesMax: few } as const;
  return wrongServices.flatMap(({ name, ...service }) => {
    // A total that can be of any moment makes many worlds.
    const share = shareOf(length, service.total === 'cached' ? 16 : 1);
    return [
      { ...ids, ...service, ...share, name: `ids, ${name}` },
      { ...unseen, ...service, ...share, name: `unseen order, ${name}` },
    ];
  });
}
