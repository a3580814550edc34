import { almostBounds } from './almost-bounds.ts';
import { exportedAgain } from './bounds.ts';
import { earlyBounds } from './early-bounds.ts';
import type { NamedBound } from './named-bound.ts';
import { plainBounds } from './plain-bounds.ts';
import { serviceBounds } from './service-bounds.ts';
import { type SettleBound, settleBounds } from './settle-worlds.ts';

/** How a guard is switched off, and worlds that then find something wrong. */
export interface Guard {
  /** As the comment on its line says. */
  readonly name: string;
  /** The line that replaces it; empty to remove the line. */
  readonly instead: string;
  readonly world: NamedBound | SettleBound;
}

const ids: NamedBound = {
  name: 'ids',
  order: 'id',
  quirk: 'none',
  isDown: false,
  largest: 3,
  overlap: 1,
  recordsMin: 0,
  recordsMax: 4,
  changesMax: 1,
  underWayMax: 1,
};
const growth = { ...ids, isGrowth: true };
const anyTwo = { ...ids, recordsMax: 3, anyPages: 2 };

/** The bound of that name, of lists that are almost in order. */
function almost(name: string): NamedBound {
  return almostBounds(0).find(
    bound => bound.name === `almost, any pages, id, lateness remembered, ${name}`,
  ) as NamedBound;
}

/** The bound of that name, in which full scans have to agree. */
function plain(name: string): NamedBound {
  return plainBounds.find(bound => bound.name === name) as NamedBound;
}

/** The bound of that name, in which readings end early. */
function early(name: string): NamedBound {
  return earlyBounds('long').find(bound => bound.name === `ended early, ${name}`) as NamedBound;
}

/** The bound of that name, of a service that leaves something out or whose totals are wrong. */
function served(name: string): NamedBound {
  return serviceBounds('long').find(bound => bound.name === name) as NamedBound;
}

/** Guards that have tests of their own in test/proof, test/store and test/sync, because these worlds are too small. */
export const guardsOfLongLists: readonly string[] = [
  'contradicted totals',
  'two readings agree',
  'an id twice',
  'all answers are in order',
  'a list that is suddenly empty',
  'records on two pages',
  'outliers that are duplicates',
  'records without a key are outliers',
  'duplicates on two pages',
  'two readings across agree',
  'pages read across say nothing of other keys',
  'pages of one moment',
  'a further reading is complete',
  'only new records shift others to the next page',
  'a record is shifted in one reading',
  'linked pages',
  'a list of the newest',
  'an empty page behind the end',
  'two pages end alike',
  'sizes that are served',
  'a total that is not reached',
  'a limit is no end',
  'no page in the middle is short',
  'copies that differ',
  'totals of this run',
  'as many rows as records',
  'pages follow each other',
  'as many records as are listed',
  'a list that grows',
  'duplicates of a list that grows',
  'answers of a cache',
  'answers that are too old',
  'nothing has come at the front',
  'a witness is another answer',
  'a witness that a cache has kept',
  'a page up to a count of before',
  'a page that lost a record',
  'a witness shows the end',
  'a later total is no greater',
  'the oldest row ends a list of the newest',
  'a last page with more records than its size',
  'a total by page size',
  'a limit that is kept in the total',
  'totals that are deduced from pages',
  'pages that are short go on to the last one',
  'neighbours share a record',
  'rows that an earlier total counted',
  'a total that fell',
  'sizes that are ignored and echoed',
  'room for pages of another size',
  'rows that were retained before',
  'rows before a few late ones',
  'a list that is being filled',
  'a list on one page that got shorter',
  'two ends that were cut',
  'a last page of readings that was cut',
];

/** The guards of the core. */
export const guards: readonly Guard[] = [
  {
    name: 'an end has a witness',
    instead: '  return new Set(claims);',
    world: served('ids, filter, deduced total'),
  },
  {
    name: 'all totals are those of the end',
    instead: '  return fresh.some(isFull);',
    world: served('ids, filter, deduced total'),
  },
  {
    name: 'a total that was counted',
    instead: '  return true;',
    world: served('ids, cut sizes, deduced total'),
  },
  {
    name: 'a later end that is another one',
    instead: '  later.page.count > 0 || earlier.page.count > 0;',
    world: served('ids, cut sizes, deduced total'),
  },
  {
    name: 'as far from the end',
    instead: '    other.page.records.some(record => behind.has(record));',
    world: { ...served('ids that fall, cut at its count'), changesMax: 2 },
  },
  {
    name: 'a list on one page is shown twice',
    instead: '    true;',
    world: served('ids, cut sizes, deduced total'),
  },
  {
    name: 'a reading of one page',
    instead: '',
    world: { ...served('unseen order, byte cap, deduced total'), plain: 'one size' },
  },
  {
    name: 'a total of a page that is not full',
    instead: '  const other = counts.find(() => false);',
    world: served('unseen order, byte cap, deduced total'),
  },
  {
    name: 'full pages end nothing',
    instead: "export const isClaim = (answer: Answer): boolean => checkTotal(answer) === 'agrees';",
    world: anyTwo,
  },
  {
    name: 'a list that got shorter',
    instead: '  const isCounted = (answer: Answer) => answer.index === 0 || isInside(answer);',
    world: plain('readings of three ids that rise'),
  },
  {
    name: 'the front again',
    instead: '  if (verdict.rule !== null) return verdict;',
    world: { ...exportedAgain, name: 'ids that fall', isDown: true, recordsMin: 4, changesMax: 3 },
  },
  {
    name: 'order of the last full sync',
    instead: '',
    world: { ...ids, order: 'name', recordsMin: 4, changesMax: 2, isPlain: true, areRowsTogether: true },
  },
  { name: 'ties at the edges', instead: '    const areEdgesIn = true;', world: { ...anyTwo, order: 'ties' } },
  { name: 'only what a window covers goes', instead: '  const isCovered = true;', world: anyTwo },
  { name: 'two answers for a removal', instead: '  const isConfirmed = true;', world: ids },
  { name: 'a second look', instead: '  const unconfirmed: [] = [];', world: ids },
  { name: 'total of an incremental sync', instead: '', world: { ...growth, recordsMax: 5 } },
  {
    name: 'new records are newer',
    instead: '    const isNewBelow = false;',
    world: { ...growth, changesMax: 3 },
  },
  {
    name: 'lateness before a page',
    instead: '    const from = isFirst ? allKeys.from : least;',
    world: almost('1 step'),
  },
  {
    name: 'lateness after a page',
    instead: '    const to = ends ? allKeys.to : greatest;',
    world: almost('1 step'),
  },
  {
    name: 'removals by a new lateness',
    instead: '  const mayGo = true;',
    world: almost('an outlier, 1 step'),
  },
  {
    // As 0.4 did: each text that an answer has shown is a row.
    name: 'the newest of the fullest answers',
    instead:
      '      const isFullest = versions.push(...fullest.filter(version => !versions.includes(version))) > 0;',
    world: settleBounds[0] as SettleBound,
  },
  {
    name: 'a row keeps a text that is shown',
    instead: '    const isShown = false;',
    world: settleBounds[0] as SettleBound,
  },
  { name: 'an id is one row', instead: '', world: settleBounds[1] as SettleBound },
  {
    name: 'records that only an earlier run has shown',
    instead: '  const isAlone = () => false;',
    world: early('pages up to 3, rise'),
  },
];
