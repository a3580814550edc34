import { join } from 'node:path';
import { Random } from '../../examples/sample-service/random.ts';
import { BusyTable, type TableOptions, type TableRow } from './busy-table.ts';
import { memoryFolder } from './in-process.ts';
import { storyOf } from './paged-service.ts';
import { type PaginatorName, paginators } from './paginators.ts';
import { type Night, requestsMax, watchNight } from './witness.ts';

/** A list, and how many records it can have in the morning. */
interface ListOfNights extends Pick<TableOptions, 'order' | 'largest'> {
  readonly resource: NonNullable<TableOptions['resource']>;
  readonly least: number;
  readonly most: number;
}

/** Lists of one page and of several. Of exports, one in five has the time of the one before it. */
export const listsOfNights = {
  'exports, newest first, pages of 100': {
    resource: 'document-exports',
    order: 'newest',
    largest: 100,
    least: 580,
    most: 620,
  },
  'exports, oldest first, pages of 50': {
    resource: 'document-exports',
    order: 'oldest',
    largest: 50,
    least: 580,
    most: 620,
  },
  'exports, newest first, 1 to 5 pages of 50': {
    resource: 'document-exports',
    order: 'newest',
    largest: 50,
    least: 30,
    most: 250,
  },
  'exports, oldest first, 1 to 5 pages of 100': {
    resource: 'document-exports',
    order: 'oldest',
    largest: 100,
    least: 60,
    most: 500,
  },
  'webhooks, 1 to 5 pages of 50': {
    resource: 'webhooks',
    order: 'begun',
    largest: 50,
    least: 30,
    most: 250,
  },
  'webhooks, about 2 pages of 50': {
    resource: 'webhooks',
    order: 'begun',
    largest: 50,
    least: 92,
    most: 108,
  },
  'collections, one page of 100': {
    resource: 'collections',
    order: 'begun',
    largest: 100,
    least: 8,
    most: 80,
  },
} as const satisfies Readonly<Record<string, ListOfNights>>;

export type ListName = keyof typeof listsOfNights;

/** A list behind a paginator, and how often it changes between two answers, on average. */
export interface PaginatedScene {
  readonly paginator: PaginatorName;
  readonly list: ListName;
  readonly rate: number;
}

/** The nights of one mirror; the first one makes it. */
export const nightsOfMirror = 6;

export interface PaginatedNight extends Night {
  readonly seed: number;
  readonly night: number;
  /** What of the run's claims is not true, or was promised otherwise. */
  readonly falseClaims: readonly string[];
  /** Whether the list changed so that one run alone can't tell the change from a fault. */
  readonly isExceptional: boolean;
  /** Its answers: page/size, records shown of a total. */
  readonly story: string;
}

/** Plays six nights. The third one can be incremental. */
export async function* paginatedNights(
  { paginator, list, rate }: PaginatedScene,
  seed: number,
): AsyncGenerator<PaginatedNight> {
  const { least, most, ...options } = listsOfNights[list];
  const random = new Random(seed * 1_000_003 + seedOf(`${paginator}, ${list}, ${rate}`));
  await using folder = await memoryFolder();
  const count = random.integer(least, most);
  await using service = await new BusyTable(
    { ...options, count, paginator: paginators[paginator] },
    seed,
  ).listen();
  spreadTimes(service, random);
  const totals: number[] = [];
  // A statement is preceded by half of the changes of an answer.
  const work = () => {
    for (let left = poisson(random, rate / 2); left > 0; left--) change(service, random);
  };
  service.beforeAnswer = () => {
    work();
    totals.push(service.table.length);
  };
  service.betweenStatements = work;
  for (let night = 0; night < nightsOfMirror; night++) {
    const evening = [...service.table];
    if (night > 0) passDay(service, random.integer(least, most), random);
    totals.length = 0;
    const known = service.table.length;
    const goneAtEnd = goneAtGrowingEnd(evening, service);
    const began = service.answered.length;
    const { before, after, ...seen } = await watchNight(
      join(folder.path, 'mirror.sqlite'),
      {
        url: service.url,
        options: service.options,
        resource: options.resource,
        witness: service.witness,
        rows: service.rows,
        pages: Math.ceil(service.table.length / options.largest),
      },
      { allowMassRemoval: true, fullEveryMs: night === 2 ? 86_400_000 : 0 },
    );
    const answers = service.answered.slice(began);
    const { completeness, requests } = seen.outcome;
    const falseClaims = service.witness.falseClaims(before, after, completeness === 'proven');
    // An incremental sync can't see an edit in the middle of the list, but it finds what is new. A still list is read whole, proven or not.
    if (completeness === 'incremental' || rate === 0)
      falseClaims.push(...seen.missing.map(key => `${key} is missing`));
    const pagesMost = Math.max(...answers.map(({ total }) => Math.ceil(total / options.largest)));
    if (requests > requestsMax(pagesMost)) falseClaims.push(`${requests} requests`);
    const grewAlways = totals.every((total, at) => at === 0 || total > (totals[at - 1] ?? 0));
    const roseOnly = totals.every((total, at) => total >= (totals[at - 1] ?? 0)) && grew(totals);
    const seemsFilled = roseOnly && goneAtEnd >= Math.max(filledMin, filledShare * known);
    const fall = (all: readonly number[]) => all.some((total, at) => (all[at - 1] ?? 0) - total >= greatFall);
    const fell = fall(totals) || fall(answers.map(({ total }) => total));
    yield {
      ...seen,
      falseClaims,
      seed,
      night,
      isExceptional: fell || seemsFilled || (night === 0 && grewAlways && totals.length > 1),
      story: `${known} in the evening: ${answers.map(storyOf).join(', ')}`,
    };
  }
}

/** A total that falls by so many from one answer to the next is taken for that of another copy. */
const greatFall = 3;

/** So many rows that are gone at the growing end, and this share of the list, stay if totals only rise: it can be one that is being filled. */
const filledMin = 10;
const filledShare = 1 / 10;

const grew = (totals: readonly number[]): boolean => (totals.at(-1) ?? 0) > (totals[0] ?? 0);

/** How many of the newest records have gone since the evening; one in ten of them can be left. */
function goneAtGrowingEnd(evening: readonly TableRow[], { table, tableOptions }: BusyTable): number {
  const listed = new Set(table.map(({ reference }) => reference));
  const newestFirst = tableOptions.order === 'newest' ? evening : evening.toReversed();
  let [gone, left, most] = [0, 0, 0];
  for (const { reference } of newestFirst) {
    if (listed.has(reference)) left++;
    else gone++;
    if (left <= gone / 10) most = gone;
  }
  return most;
}

function spreadTimes(service: BusyTable, random: Random): void {
  if (service.tableOptions.resource !== 'document-exports') return;
  const { count } = service.tableOptions;
  service.remove(count, 0);
  for (let left = count; left > 0; left--) insert(service, random);
}

function insert(service: BusyTable, random: Random): void {
  service.insert(1, random.chance(1 / 5) ? 0 : 60_000);
}

/** Half of the changes are insertions; removals are anywhere, and more often than by chance at an end of the list. */
function change(service: BusyTable, random: Random): void {
  const kind = random.fraction();
  if (kind < 1 / 2) insert(service, random);
  else if (kind < 3 / 4) service.edit(1, anyPlace(service, random));
  else service.remove(1, anyPlace(service, random));
}

function anyPlace({ table }: BusyTable, random: Random): number {
  const last = table.length - 1;
  return random.pick([0, last, random.integer(0, last), random.integer(0, last), random.integer(0, last)]);
}

/** In the morning the list has so many records. Some came and others went, whatever its length. */
function passDay(service: BusyTable, count: number, random: Random): void {
  for (let left = random.integer(0, 3); left > 0; left--) change(service, random);
  while (service.table.length > count) service.remove(1, anyPlace(service, random));
  while (service.table.length < count) insert(service, random);
}

/** A number of events, if so many are expected. */
function poisson(random: Random, expected: number): number {
  const limit = Math.exp(-expected);
  let product = random.fraction();
  let events = 0;
  while (product > limit && events < eventsMax) {
    events++;
    product *= random.fraction();
  }
  return events;
}

/** Changes before one statement. */
const eventsMax = 20;

function seedOf(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}
