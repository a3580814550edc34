import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Random } from '../examples/sample-service/random.ts';
import type { ListOutcome } from '../src/store/tables/run.ts';
import { memoryFolder, syncScene } from '../test/support/in-process.ts';
import { BusyList, BusyServer, type Habit, habits } from './busy-list.ts';

/** The pages of a list when its runs begin. */
export const pagesOfList = 20;
/** Changes in the time of one reading: of 20 page requests. */
export const rates = [0.1, 0.3, 1, 3, 10];
const dayMs = 86_400_000;

/** A list, the size of its pages, and how often it changes. */
export interface BusyScene {
  readonly habit: Habit;
  readonly size: number;
  readonly rate: number;
}

/** A full sync of a list that changes meanwhile. */
export interface BusyRun {
  /** From 0: the first run makes the mirror, while nothing changes. */
  readonly number: number;
  readonly outcome: ListOutcome;
  /** Of one reading. */
  readonly pages: number;
  /** The instant of the list at which the run began. */
  readonly beganAt: number;
  readonly list: BusyList;
  /** The records of the mirror. */
  readonly labels: ReadonlySet<string>;
}

/** Runs over a real HTTP server, a day after one another. Throws if a list fails. */
export async function* busyRuns(
  { habit, size, rate }: BusyScene,
  options: { seed: number; runs: number; concurrency: number; isNewestFirst?: boolean },
): AsyncGenerator<BusyRun> {
  const random = new Random(seedOf({ habit, size, rate }, options.seed));
  const fraction = () => random.fraction();
  // A total that stands at a round number would be taken for a limit.
  const list = new BusyList(habit, size * pagesOfList - 1, fraction, options.isNewestFirst === true);
  let isBusy = false;
  await using folder = await memoryFolder();
  await using server = await BusyServer.start(list, size, () => {
    if (isBusy && random.chance(rate / pagesOfList)) list.change();
  });
  const database = join(folder.path, 'mirror.sqlite');
  const service = { url: server.url, options: { token: 'bench' } };
  for (let number = 0; number <= options.runs; number++) {
    const pages = Math.ceil(list.length / size);
    const beganAt = list.now;
    const { summary } = await syncScene(
      { service, database },
      {
        resources: [list.resource],
        concurrency: options.concurrency,
        now: new Date(Date.UTC(2026, 0, 1) + number * dayMs),
      },
    );
    const outcome = summary.resources[0] as ListOutcome;
    if (outcome.error !== null) throw new Error(`${habit} at ${rate}: ${outcome.error.message}`);
    isBusy = true;
    yield { number, outcome, pages, beganAt, list, labels: labelsIn(database, list) };
  }
}

function seedOf({ habit, size, rate }: BusyScene, seed: number): number {
  return seed * 1_000_003 + habits.indexOf(habit) * 10_007 + size * 101 + rate * 10;
}

/** The records of a mirror, with the labels of the list. */
function labelsIn(database: string, { resource }: BusyList): Set<string> {
  const sql =
    resource === 'collections'
      ? 'SELECT name FROM collections'
      : 'SELECT source_document_title FROM document_exports';
  const db = new Database(database, { readonly: true });
  try {
    return new Set(db.prepare(sql).pluck().all() as string[]);
  } finally {
    db.close();
  }
}
