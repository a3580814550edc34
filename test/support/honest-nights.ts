import { join } from 'node:path';
import type { ListOutcome } from '../../src/store/tables/run.ts';
import { exitCodeOf } from '../../src/sync/run.ts';
import { memoryFolder, run } from './in-process.ts';
import { type Kind, NightlyList } from './nightly-list.ts';

/** The most requests, as multiples of one reading: if nothing was removed, and if something was. */
export interface Most {
  readonly still: number;
  readonly removed: number;
}

const byKey: Most = { still: 1.3, removed: 1.7 };
const byAgreement: Most = { still: 2.4, removed: 2.5 };
const batches: Most = { still: 2.9, removed: 2.9 };
/** A list on one page is shown twice, and once more before a record goes. */
const onOnePage: Most = { still: 2, removed: 3 };

/** Honest services, by what is special about them. */
export const honestKinds: Readonly<Record<string, Kind & { readonly most: Most }>> = {
  'by time': { most: byKey },
  'newest first': { order: 'newest first', most: byKey },
  'almost by time': { late: 3, most: { still: 1.3, removed: 1.8 } },
  'pages of 20': { size: 20, count: 600, most: { still: 1.6, removed: 2 } },
  'by title': { order: 'title', most: byAgreement },
  'by last change': { order: 'last change', most: byAgreement },
  'in a stable order that nobody sees': { order: 'unseen', most: byAgreement },
  'in no visible order, one arrives': {
    order: 'unseen',
    arrives: true,
    most: { still: 3.4, removed: 3.4 },
  },
  'with one page size': { size: 50, sizes: 'ignored', most: byAgreement },
  'with one page size, others refused': { size: 50, sizes: 'refused', most: byAgreement },
  'with one page size, by title': { size: 50, sizes: 'ignored', order: 'title', most: byAgreement },
  'batches of 60': { batch: 60, most: batches },
  'batches of 60, one arrives': { batch: 60, arrives: true, most: batches },
  'batches of 45, pages of 50': { batch: 45, size: 50, most: batches },
  'batches of 60, pages of 50': { batch: 60, size: 50, most: batches },
  'batches of 30, pages of 50': { batch: 30, size: 50, most: batches },
  'one arrives': { arrives: true, most: byKey },
  '404 beyond the end': { beyond: '404', most: byKey },
  'the last page again beyond the end': { beyond: 'last page', most: byKey },
  'collections by name': { list: 'collections', order: 'title', count: 60, most: onOnePage },
};

const nights = 8;

/** One run of a list that changes between two runs. */
export interface PlayedNight {
  /** From 0: the first one makes the mirror. */
  readonly night: number;
  readonly path: string;
  readonly source: NightlyList;
  readonly outcome: ListOutcome;
  /** The exit code that the command line would give. */
  readonly code: number;
  readonly requests: number;
  /** How many records went since the run before. */
  readonly gone: number;
}

/** Plays eight nights of an honest service, one after the other. */
export async function* honestNights(kind: Kind): AsyncGenerator<PlayedNight> {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new NightlyList(kind);
  for (let night = 0; night < nights; night++) {
    const gone = night % 2 === 1 ? 3 : 0;
    source.change(15, 4, gone);
    yield { ...(await playNight(path, source, { maxRemovals: 0.5 })), night, gone };
  }
}

/** One run over a list as it is. */
export async function playNight(
  path: string,
  source: NightlyList,
  options: { maxRemovals?: number; fullEveryMs?: number } = {},
) {
  source.beginRun();
  const summary = await run(path, source, { resources: [source.resource], ...options });
  const outcome = summary.resources[0] as ListOutcome;
  const code = exitCodeOf(summary, new AbortController().signal);
  return { path, source, outcome, code, requests: source.traffic.requests };
}
