// Syncs lists that change while they are read. It counts the runs that are proven, their requests, and their errors.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { Random } from '../src/sample/random.ts';
import { Secrets } from '../src/service/secrets.ts';
import { Service } from '../src/service/service.ts';
import type { ListOutcome } from '../src/store/tables/run.ts';
import { run } from '../test/support/in-process.ts';
import { BusyList, BusyServer, type Habit, habits } from './busy-list.ts';

const { values } = parseArgs({
  options: {
    size: { type: 'string', multiple: true, default: ['50'] },
    runs: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '4' },
    list: { type: 'string', multiple: true, default: [...habits] },
    'newest-first': { type: 'boolean', default: false },
    why: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

const pagesOfList = 20;
/** Changes in the time of one reading: of 20 page requests. */
const rates = [0.1, 0.3, 1, 3, 10];
const runs = Number(values.runs);
const dayMs = 86_400_000;

/** The result of ten runs of one list at one rate. */
interface Result {
  readonly proven: number;
  /** Requests with second looks, as a multiple of the list's pages; the mean of all runs. */
  readonly requests: number;
  /** Rows that were gone before two full syncs in a row, and that both left. */
  readonly stale: number;
  /** Records that were listed all through a run, and that the run did not store. */
  readonly missing: number;
  /** Rows of proven runs that the list did not have at any instant of the run. */
  readonly falseClaims: number;
}

const folder = mkdtempSync(join(tmpdir(), 'docmirror-busy-'));

async function measure(habit: Habit, size: number, rate: number): Promise<Result> {
  const random = new Random(seedOf(habit, size, rate));
  const fraction = () => random.fraction();
  // A total that stands at a round number would be taken for a limit.
  const list = new BusyList(habit, size * pagesOfList - 1, fraction, values['newest-first']);
  let isBusy = false;
  await using server = await BusyServer.start(list, size, () => {
    if (isBusy && random.chance(rate / pagesOfList)) list.change();
  });
  const database = join(folder, `${habits.indexOf(habit)}-${size}-${rate}.sqlite`);
  let asked = 0;
  let proven = 0;
  let requests = 0;
  let missing = 0;
  let falseClaims = 0;
  const stale = new Set<string>();
  const begins: number[] = [];
  for (let number = 0; number <= runs; number++) {
    const pages = Math.ceil(list.length / size);
    const beganAt = list.now;
    const outcome = await syncOnce(server.url, database, list, number);
    if (outcome.error !== null) throw new Error(`${habit} at ${rate}: ${outcome.error.message}`);
    // The first run makes the mirror, while nothing changes.
    if (number === 0) isBusy = true;
    else {
      const isProven = outcome.completeness === 'proven';
      if (isProven) proven++;
      else if (values.why)
        process.stderr.write(
          `${habit}, pages of ${size}, at ${rate}, run ${number}: ${outcome.requests} requests, ${outcome.undecided} undecided, ${outcome.walks} readings: ${outcome.reason}\n`,
        );
      asked += pages;
      requests += outcome.requests;
      const labels = labelsIn(database, list);
      missing += list.missingSince(beganAt, labels);
      if (isProven) falseClaims += list.goneBefore(beganAt, labels).length;
      const before = begins.at(-1);
      if (before !== undefined) for (const label of list.goneBefore(before, labels)) stale.add(label);
    }
    begins.push(beganAt);
  }
  rmSync(database, { force: true });
  return {
    proven,
    requests: requests / asked,
    stale: stale.size,
    missing,
    falseClaims,
  };
}

function seedOf(habit: Habit, size: number, rate: number): number {
  return Number(values.seed) * 1_000_003 + habits.indexOf(habit) * 10_007 + size * 101 + rate * 10;
}

/** One full sync, a day after the one before. */
async function syncOnce(
  url: string,
  database: string,
  { resource }: BusyList,
  day: number,
): Promise<ListOutcome> {
  const source = new Service({
    baseUrl: url,
    readToken: async () => 'bench',
    secrets: new Secrets(),
    timeoutMs: 10_000,
    giveUpAfterMs: 5_000,
    concurrency: Number(values.concurrency),
    userAgent: 'bench',
  });
  try {
    const { resources } = await run(database, source, {
      resources: [resource],
      now: new Date(Date.UTC(2026, 0, 1) + day * dayMs),
      maxRemovals: 0.5,
    });
    return resources[0] as ListOutcome;
  } finally {
    await source.close();
  }
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

/** Requests as a multiple of the pages, by the size of pages; a second look takes up to as many as a reading. */
const requestsMax: Readonly<Record<number, number>> = { 50: 2.4, 100: 2.3, 500: 2.2 };
/** The rates to which the goals apply. */
const goalRateMax = 3;
const missed: string[] = [];

function checkGoals(habit: Habit, size: number, rate: number, result: Result): void {
  const name = `${habit}, pages of ${size}, ${rate} changes a reading`;
  const share = rate <= 1 ? 1 : habit === 'sliding window' ? 0.7 : 0.9;
  const isGoal = rate <= goalRateMax;
  if (isGoal && result.proven < Math.floor(runs * share))
    missed.push(`${name}: ${result.proven} of ${runs} proven`);
  const most = requestsMax[size];
  if (isGoal && most !== undefined && result.requests > most)
    missed.push(`${name}: ${result.requests.toFixed(2)} × requests`);
  if (result.stale > 0) missed.push(`${name}: ${result.stale} stale rows`);
  if (result.falseClaims > 0)
    missed.push(`${name}: ${result.falseClaims} rows of proven runs are not listed`);
  if (isGoal && result.missing > 0) missed.push(`${name}: ${result.missing} records are missing`);
}

async function tableOf(size: number): Promise<string> {
  const lines = [
    `| list, pages of ${size} | ${rates.join(' | ')} | requests | stale | missing |`,
    `|---|${rates.map(() => '--:').join('|')}|--:|--:|--:|`,
  ];
  for (const habit of habits.filter(each => values.list.includes(each))) {
    const results: Result[] = [];
    for (const rate of rates) {
      const result = await measure(habit, size, rate);
      checkGoals(habit, size, rate, result);
      results.push(result);
    }
    const all = (of: (result: Result) => number) => results.map(of);
    const cells = [
      ...all(({ proven }) => proven),
      range(all(({ requests }) => requests)),
      sum(all(({ stale }) => stale)),
      sum(all(({ missing }) => missing)),
    ];
    const line = `| ${habit} | ${cells.join(' | ')} |`;
    process.stderr.write(`${line}\n`);
    lines.push(line);
  }
  return lines.join('\n');
}

/** The lowest and the highest of the figures of all rates. */
function range(figures: readonly number[]): string {
  const [least, most] = [Math.min(...figures).toFixed(2), Math.max(...figures).toFixed(2)];
  return least === most ? least : `${least}–${most}`;
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}

const parts = [
  `Lists of ${pagesOfList} pages, ${runs} full syncs each; proven runs by changes in the time of one reading. Requests are multiples of the list's pages, with second looks, the means of each rate.`,
];
try {
  for (const size of values.size.map(Number)) parts.push(await tableOf(size));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const text = `${parts.join('\n\n')}\n`;
process.stdout.write(text);
if (values.out !== undefined) writeFileSync(values.out, text);
if (missed.length > 0) {
  process.stderr.write(`Worse than the goals:\n${missed.map(each => `- ${each}\n`).join('')}`);
  process.exitCode = 1;
}
