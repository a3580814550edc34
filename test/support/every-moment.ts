import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BusyTable, type TableOptions } from './busy-table.ts';
import { memoryFolder } from './in-process.ts';
import { type AskedPage, storyOf } from './paged-service.ts';
import { type PaginatorName, paginators } from './paginators.ts';
import { requestsMax, watchNight } from './witness.ts';

/** The largest page; lists of two to five pages are multiples of it. */
const size = 50;

type Step = (table: BusyTable) => void;

const comes: Step = table => table.insert();
const firstGoes: Step = table => table.remove(1, 0);
const middleGoes: Step = table => table.remove(1, Math.floor(table.table.length / 2));
const lastGoes: Step = table => table.remove(1, table.table.length - 1);
const both =
  (...steps: readonly Step[]): Step =>
  table => {
    for (const step of steps) step(table);
  };

/** What happens at a moment, and at the same one of the next answer. */
export const changes: Readonly<Record<string, readonly Step[]>> = {
  'one comes': [comes],
  'two come': [both(comes, comes)],
  'the first goes': [firstGoes],
  'one in the middle goes': [middleGoes],
  'the last of page 1 goes': [table => table.remove(1, size - 1)],
  'the first of page 2 goes': [table => table.remove(1, size)],
  'the last goes': [lastGoes],
  'the first two go': [both(firstGoes, firstGoes)],
  'the last two go': [both(lastGoes, lastGoes)],
  'the first and the last go': [both(lastGoes, firstGoes)],
  'one comes and the first goes': [both(comes, firstGoes)],
  'one comes and the last goes': [both(lastGoes, comes)],
  'one goes, and then another one': [middleGoes, middleGoes],
  'the last goes, and then another one': [lastGoes, lastGoes],
  'one comes, and then the first goes': [comes, firstGoes],
  'the last goes, and then one comes': [lastGoes, comes],
};

/** What was before the run. */
export const evenings = {
  'a first copy': null,
  'the next night': () => undefined,
  'the next night, two went': table => table.remove(2, Math.floor(table.table.length / 2)),
  'the next night, two came': table => table.insert(2),
} as const satisfies Readonly<Record<string, ((table: BusyTable) => void) | null>>;

/** A list behind a paginator. */
export interface MomentsScene {
  readonly paginator: PaginatorName;
  readonly resource: NonNullable<TableOptions['resource']>;
  readonly order: TableOptions['order'];
  readonly count: number;
}

/** A run during which one thing happened, and what is wrong with it; null if nothing is. */
export interface PlayedMoment {
  readonly name: string;
  readonly fault: string | null;
}

/** No run of a short list has as many answers. */
const answersMax = 100;

/**
 * Plays a list with each change before each answer of a run, and between the two statements of each answer.
 */
export async function* everyMoment({ paginator, ...list }: MomentsScene): AsyncGenerator<PlayedMoment> {
  await using folder = await memoryFolder();
  await using service = await new BusyTable({
    ...list,
    largest: size,
    paginator: paginators[paginator],
  }).listen();
  const settled = join(folder.path, 'settled.sqlite');
  const database = join(folder.path, 'mirror.sqlite');
  const rows = service.table;
  const watched = {
    url: service.url,
    options: service.options,
    resource: list.resource,
    witness: service.witness,
    rows: () => service.table,
    pages: Math.ceil(list.count / size),
  };
  await watchNight(settled, watched);
  // A page of a list that stands still is of one moment.
  const places = paginator === 'plain' ? ['before'] : ['before', 'between'];

  for (const [evening, prepare] of Object.entries(evenings))
    for (const [change, steps] of Object.entries(changes))
      for (const place of places)
        for (let n = 1; n <= answersMax; n++) {
          service.table = [...rows];
          for (const end of ['', '-wal', '-shm', '.lock']) rmSync(`${database}${end}`, { force: true });
          if (prepare !== null) {
            copyFileSync(settled, database);
            prepare(service);
          }
          const began = service.answered.length;
          const first = service.asked.length;
          let isDone = false;
          const at = (here: string) => (_: BusyTable, asked: AskedPage) => {
            if (here !== place) return;
            const step = steps[asked.n - first - n];
            if (step === undefined) return;
            isDone = true;
            step(service);
          };
          service.beforeAnswer = at('before');
          service.betweenStatements = at('between');
          const { before, after, code, outcome } = await watchNight(database, watched);
          if (!isDone) break;
          const faults = service.witness.falseClaims(before, after, outcome.completeness === 'proven');
          if (code !== 0) faults.push(`exit code ${code}: ${outcome.reason}`);
          if (outcome.requests > requestsMax(watched.pages)) faults.push(`${outcome.requests} requests`);
          const story = service.answered.slice(began).map(storyOf).join(', ');
          yield {
            name: `${evening}, ${change} ${place === 'before' ? 'before' : 'between the statements of'} answer ${n}`,
            fault: faults.length === 0 ? null : `${faults.slice(0, 3).join('; ')}. ${story}`,
          };
        }
}
