// Syncs lists that change while they are read. It counts the runs that are proven, their requests, and their errors.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Habit, habits } from './busy-list.ts';
import { busyRuns, pagesOfList, rates } from './busy-runs.ts';

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

const runs = Number(values.runs);
const seed = Number(values.seed);
const concurrency = Number(values.concurrency);

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

async function measure(habit: Habit, size: number, rate: number): Promise<Result> {
  let asked = 0;
  let proven = 0;
  let requests = 0;
  let missing = 0;
  let falseClaims = 0;
  const stale = new Set<string>();
  const begins: number[] = [];
  const options = { seed, runs, concurrency, isNewestFirst: values['newest-first'] };
  for await (const { number, outcome, pages, beganAt, list, labels } of busyRuns(
    { habit, size, rate },
    options,
  )) {
    if (number > 0) {
      const isProven = outcome.completeness === 'proven';
      if (isProven) proven++;
      else if (values.why)
        process.stderr.write(
          `${habit}, pages of ${size}, at ${rate}, run ${number}: ${outcome.requests} requests, ${outcome.undecided} undecided, ${outcome.walks} readings: ${outcome.reason}\n`,
        );
      asked += pages;
      requests += outcome.requests;
      missing += list.missingSince(beganAt, labels);
      if (isProven) falseClaims += list.goneBefore(beganAt, labels).length;
      const before = begins.at(-1);
      if (before !== undefined) for (const label of list.goneBefore(before, labels)) stale.add(label);
    }
    begins.push(beganAt);
  }
  return {
    proven,
    requests: requests / asked,
    stale: stale.size,
    missing,
    falseClaims,
  };
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
for (const size of values.size.map(Number)) parts.push(await tableOf(size));
const text = `${parts.join('\n\n')}\n`;
process.stdout.write(text);
if (values.out !== undefined) writeFileSync(values.out, text);
if (missed.length > 0) {
  process.stderr.write(`Worse than the goals:\n${missed.map(each => `- ${each}\n`).join('')}`);
  process.exitCode = 1;
}
