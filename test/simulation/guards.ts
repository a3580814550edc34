import type { CaseKind } from './regressions.ts';

/** A line of the program that keeps a promise. The file `guards.ndjson` has a scenario that breaks it without the line. */
export interface Guard {
  /** As the comment on its line says; the kept scenario has it, too, with hyphens. */
  readonly name: string;
  /** The promise that it keeps, in a sentence. */
  readonly keeps: string;
  /** The line that replaces it; empty to remove the line. */
  readonly instead: string;
  /** The outcome of the kept scenario without it. */
  readonly breaks: CaseKind;
}

/** The guards outside the core, and one that lists of some pages need; test/proof/exhaust has the others of the core. */
export const guards: readonly Guard[] = [
  {
    name: 'a set with the same elements',
    keeps: 'events and connections in another order are no change',
    instead: '  return ordered.length < 0 ? ordered : null;',
    breaks: 'rewritten',
  },
  {
    name: 'rejected records keep their rows',
    keeps: 'a known record that can no longer be read is not removed',
    instead: '    false;',
    breaks: 'removed-wrongly',
  },
  {
    name: 'removals',
    keeps: 'no more is removed than is allowed',
    instead: '  return Number.POSITIVE_INFINITY;',
    breaks: 'mass-removal',
  },
  {
    name: 'size of the answer',
    keeps: 'a page of another size than was asked for is at another place',
    instead: '    const isOtherSize = false;',
    breaks: 'not-healed',
  },
  {
    name: 'unreadable records',
    keeps: 'nothing is removed while a new record can not be read at all',
    instead: '    return false;',
    breaks: 'removed-wrongly',
  },
  {
    name: 'totals of a list that grows',
    keeps: 'a copy that lags does not make up for a record that two pages skip',
    instead: '  return areSame && !areDuplicates;',
    breaks: 'removed-wrongly',
  },
  {
    name: 'a total that fell far stands',
    keeps: 'a page that fits a total of 46 does not unsay one of 107',
    instead: '    return later === undefined;',
    breaks: 'lost',
  },
  {
    name: 'totals of pages by another size',
    keeps: 'a copy that lags by the whole list removes nothing, if the first answer counted more',
    instead: '  const totals = totalsInTime([...fresh, ...misplaced]);',
    breaks: 'removed-wrongly',
  },
];

/**
 * Lines that no scenario needs. The commit gate is against faults of docmirror itself: test/sync/altered-mirror.test.ts fails without it.
 * Without the page number of an answer, other lines find the same, later: test/sync/drift.long.test.ts fails without it.
 * A remembered page whose rows have changed is also against faults: each run that changes rows in another way forgets the pages.
 * A record that did not fit at the end of a list without usable totals: test/proof/ends.test.ts fails without its line.
 * The others are in test/mutants, each with the test that fails without it.
 */
export const guardsWithoutScenario: readonly string[] = [
  'commit gate',
  'pageNo of the answer',
  'rows of known pages',
  'a record that did not fit',
  'digits as text',
  'a total that was never counted',
  'a list on one page needs no larger one',
  'an identity that lost a field',
  'a service that serves larger pages by now',
  'pages that are shorter than they say',
  'a last page with orphans comes again',
  'a row that is as it was written',
  'an instant that is written otherwise',
  'records that were replaced',
];

/** Paths of the repository that the simulation needs. */
export const neededBySimulation: readonly string[] = [
  'src',
  'examples',
  'migrations',
  'test/simulation',
  'test/support/mutant.ts',
];
