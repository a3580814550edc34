import { almostBounds, plainBounds } from './bounds.ts';
import type { Bound } from './every-world.ts';
import type { Choice } from './random-worlds.ts';

/** Worlds that need a guard: every small one within a bound, or some larger ones. */
export type Worlds =
  | { readonly kind: 'every'; readonly bound: Bound }
  | { readonly kind: 'growth'; readonly bound: Bound }
  | { readonly kind: 'random'; readonly choice: Choice; readonly seedsMax: number };

/** How a guard is switched off, and which worlds then find something wrong. */
export interface Guard {
  /** As the comment on its line says. */
  readonly name: string;
  /** The line that replaces it; empty to remove the line. */
  readonly instead: string;
  readonly worlds: Worlds;
}

const ids: Bound = {
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
const caches: Choice = {
  quirks: ['cache from nights before'],
  orders: ['id', 'time'],
  extents: ['small'],
};

const plainly = plainBounds[0] as Bound;

/** The bound of that name, of lists that are almost in order. */
function almost(name: string): Bound {
  return almostBounds(0).find(bound => bound.name === name) as Bound;
}

/** Guards that have tests of their own in test/proof/prove.test.ts and test/sync, because these worlds are too small. */
export const guardsOfLongLists: readonly string[] = [
  'one long inversion',
  'records on two pages',
  'slack of an incremental sync',
  'strays that are twins',
  'a list of the newest',
];

/** Guards whose absence nothing has found yet: without them a claim would rest on less, but no world shows it wrong. */
export const guardsWithoutWorld: readonly string[] = [
  'a second look for strays',
  'strays at the edges',
  'records without a key are strays',
  'twins on two pages',
  'two readings across agree',
  'a further reading is complete',
  'a whole reading',
  'a page that ends the list',
  'only new records shift others to the next page',
  'linked pages',
  'one order',
];

/** The guards of the core. */
export const guards: readonly Guard[] = [
  {
    name: 'contradicted totals',
    instead: '',
    worlds: {
      kind: 'random',
      choice: { quirks: ['filter after paging'], orders: ['id', 'time'] },
      seedsMax: 600,
    },
  },
  {
    name: 'full pages end nothing',
    instead: '',
    worlds: { kind: 'every', bound: { ...ids, recordsMax: 3, anyPages: 2 } },
  },
  { name: 'two readings agree', instead: '  return true;', worlds: { kind: 'every', bound: plainly } },
  {
    name: 'an id twice',
    instead: '    this.isIdTwice = false;',
    worlds: { kind: 'random', choice: { quirks: ['ids twice'], orders: ['id'] }, seedsMax: 100 },
  },
  {
    name: 'all answers are in order',
    instead: '    0;',
    worlds: {
      kind: 'random',
      choice: { quirks: ['none'], orders: ['name'], extents: ['small'] },
      seedsMax: 600,
    },
  },
  {
    name: 'order of the last full sync',
    instead: '',
    worlds: { kind: 'every', bound: { ...ids, order: 'name', recordsMin: 4, changesMax: 2 } },
  },
  {
    name: 'no id twice on a page',
    instead: '      const isTwice = false;',
    worlds: {
      kind: 'random',
      choice: { quirks: ['ids twice'], orders: ['id'], kinds: ['edits only'], extents: ['big'] },
      seedsMax: 10,
    },
  },
  {
    name: 'ties at the edges',
    instead: '  const areEdgesIn = true;',
    worlds: { kind: 'every', bound: { ...ids, order: 'ties', recordsMax: 3, anyPages: 2 } },
  },
  {
    name: 'neighbours share a record',
    instead: '      const areLinked = true;',
    worlds: {
      kind: 'every',
      bound: { ...ids, order: 'inverted', recordsMin: 5, recordsMax: 5, changesMax: 2 },
    },
  },
  {
    name: 'only what a window covers goes',
    instead: '  const isCovered = true;',
    worlds: { kind: 'every', bound: { ...ids, recordsMax: 3, anyPages: 2 } },
  },
  {
    name: 'two answers for a removal',
    instead: '  const isConfirmed = true;',
    worlds: { kind: 'random', choice: caches, seedsMax: 300 },
  },
  {
    name: 'a second look',
    instead: '  const unconfirmed: [] = [];',
    worlds: { kind: 'random', choice: caches, seedsMax: 300 },
  },
  {
    name: 'a list that is suddenly empty',
    instead: '',
    worlds: { kind: 'random', choice: { quirks: ['empty for a night'], extents: ['small'] }, seedsMax: 100 },
  },
  {
    name: 'total of an incremental sync',
    instead: '',
    worlds: { kind: 'growth', bound: { ...ids, recordsMax: 5 } },
  },
  {
    name: 'new records are newer',
    instead: '    const isNewBelow = false;',
    worlds: { kind: 'growth', bound: { ...ids, recordsMax: 4, changesMax: 3 } },
  },
  {
    name: 'slack before a page',
    instead: '  const from = isFirst ? allKeys.from : least;',
    worlds: { kind: 'every', bound: almost('almost, any pages, id, slack remembered, 1 step') },
  },
  {
    name: 'slack after a page',
    instead: '  const to = ends ? allKeys.to : greatest;',
    worlds: { kind: 'every', bound: almost('almost, any pages, id, slack remembered, 1 step') },
  },
  {
    name: 'removals by a new slack',
    instead: '  const open = verdict.open;',
    worlds: { kind: 'every', bound: almost('almost, any pages, id, slack remembered, a stray, 1 step') },
  },
];
