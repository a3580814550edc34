import { plainBounds } from './bounds.ts';
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

/** Guards that have tests of their own in test/proof/windows, because these worlds are too small. */
export const guardsOfLongLists: readonly string[] = ['one long inversion', 'records on two pages'];

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
    instead: '  const unconfirmed: KeyRange[] = [];',
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
    name: 'two readings across agree',
    instead: '  const doAgree = one !== undefined;',
    worlds: {
      kind: 'every',
      bound: { ...ids, order: 'ties', largest: 5, overlap: 2, recordsMin: 5, recordsMax: 6, changesMax: 1 },
    },
  },
  {
    name: 'a further reading is complete',
    instead: '    isReadAgain = true;',
    worlds: {
      kind: 'random',
      choice: { quirks: ['none'], orders: ['unseen', 'name'], extents: ['small'] },
      seedsMax: 1_500,
    },
  },
];
