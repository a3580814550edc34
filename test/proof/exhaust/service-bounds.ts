import { base, type Length, type NamedBound, shareOf } from './named-bound.ts';
import type { ServiceOptions, SmallQuirk, SmallTotal } from './small-service.ts';

/** A service that leaves something out, or whose totals are wrong. */
export interface WrongService extends ServiceOptions {
  readonly name: string;
  readonly growsAtEnd?: boolean;
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
  'orphans',
];
const totals: readonly SmallTotal[] = ['right', 'none', 'one less', 'one more', 'cached', 'deduced'];
/** Two statements make a page, and the list can change between them. */
const twoStatements: readonly SmallQuirk[] = ['cut at its count', 'rows of ids'];

/** Every way of leaving something out, each with every kind of total. */
export const wrongServices: readonly WrongService[] = [
  ...quirks.flatMap(quirk => {
    const kinds: readonly SmallTotal[] = quirk === 'filter' ? [...totals, 'visible'] : totals;
    return kinds
      .filter(total => quirk !== 'none' || (total !== 'right' && total !== 'deduced'))
      .map(total => ({ name: `${quirk === 'none' ? '' : `${quirk}, `}${total} total`, quirk, total }));
  }),
  // A page that is cut at a count of before hides what was listed all the time only if records come in front of it.
  ...twoStatements.map(quirk => ({ name: quirk, quirk, growsAtEnd: quirk === 'cut at its count' })),
];

/**
 * The bounds of services that leave something out, or whose totals are wrong. Two limits are known: a page that a service cuts where a wrong
 * total ends (`hasCutAtTotal`), and a record near the end that is too long for every page. The first is not judged, the other not played.
 */
export function serviceBounds(length: Length): NamedBound[] {
  const changesMax = { short: 0, long: 1, whole: 2 }[length];
  const few = Math.min(1, changesMax);
  const allIds = { ...base, order: 'id', recordsMax: 5, largest: 3, areRowsTogether: true } as const;
  const unseen = { ...base, order: 'unseen', recordsMax: 5, largest: 5, changesMax: few } as const;
  return wrongServices.flatMap(({ name, ...service }) => {
    // A total that can be of any moment makes many worlds.
    const share = shareOf(length, service.total === 'cached' ? 16 : 1);
    const anywhere = { ...service, growsAtEnd: false };
    // A third limit is known: a service that leaves records out of pages and deduces its totals from them, while two things change.
    const ids = { ...allIds, changesMax: service.total === 'deduced' ? few : changesMax };
    return [
      { ...ids, ...service, ...share, name: `ids, ${name}` },
      ...(twoStatements.includes(service.quirk)
        ? [
            { ...ids, ...service, isDown: true, name: `ids that fall, ${name}` },
            // The mirror knows what was listed, and a dead record or none.
            {
              ...ids,
              ...service,
              ...{
                isDown: true,
                growsAtEnd: true,
                recordsMin: 4,
                areRowsTogether: false,
                isAfterCleanRun: true,
              },
              name: `ids that fall, known, ${name}`,
            },
          ]
        : []),
      { ...unseen, ...anywhere, ...share, name: `unseen order, ${name}` },
    ];
  });
}
