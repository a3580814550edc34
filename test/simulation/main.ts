// Plays many seeds, each a service that behaves in its own way, and prints which of them broke a promise.
// A found scenario is made smaller first; with --quick it is not. With --without 'commit gate', this guard is switched off.
// Usage: npm run simulate -- --seeds 10000 --from 1 [--workers 2]
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { exit } from 'node:process';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Mutant } from '../support/mutant.ts';
import { Disk } from './disk.ts';
import { guards, neededBySimulation } from './guards.ts';
import { type HabitKind, habitKinds } from './paginator.ts';
import { play } from './play.ts';
import { lineOfRegression, readRegressions } from './regressions.ts';
import type { FoundCase, SeedResult } from './seeds.ts';
import type { WorkerOrder } from './worker.ts';

const progressEveryMs = 10_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    without: { type: 'string' },
  },
});
const first = wholeNumber('--from', values.from);
const count = wholeNumber('--seeds', values.seeds);
const workers = wholeNumber('--workers', values.workers);

const verdicts = new Map<string, number>();
const seedsWith = new Map<HabitKind, number>(habitKinds.map(kind => [kind, 0]));
const found: FoundCase[] = [];
const returned: string[] = [];
let seeds = 0;
let runs = 0;
const startedAt = performance.now();

function take({ found: one, runs: more, verdicts: ends, habits }: SeedResult): void {
  seeds++;
  runs += more;
  for (const end of ends) verdicts.set(end, (verdicts.get(end) ?? 0) + 1);
  for (const habit of habits) seedsWith.set(habit, (seedsWith.get(habit) ?? 0) + 1);
  if (one === null) return;
  found.push(one);
  const { seed, finding, scenario } = one;
  console.log(
    `\nseed ${seed}: ${finding.kind} (${finding.list ?? 'all lists'}, run ${finding.run}): ${finding.what}`,
  );
  // A line of regressions.ndjson; its name and `about` are for a person to write.
  const name = `seed-${seed}`;
  if (!values.quick)
    console.log(lineOfRegression({ name, about: `found by seed ${seed}`, kind: finding.kind, scenario }));
}

function progress(): string {
  const seconds = (performance.now() - startedAt) / 1000;
  const rate = (seeds / seconds).toFixed(1);
  return `${seeds} seeds, ${runs} runs, ${found.length} findings, ${seconds.toFixed(0)} s, ${rate} seeds/s`;
}

async function work(step: number): Promise<void> {
  const order: WorkerOrder = {
    from: first + step,
    to: first + count,
    step: workers,
    isShrinking: !values.quick,
  };
  const worker = new Worker(join(import.meta.dirname, 'worker.ts'), { workerData: order });
  let last = 'none';
  worker.on('message', (message: SeedResult & { readonly seed: number }) => {
    last = String(message.seed);
    take(message);
  });
  const [code] = await once(worker, 'exit');
  if (code !== 0) throw new Error(`A worker ended with ${code}; the last seed that it played was ${last}.`);
}

/** How many findings there are of each kind, with some of their seeds. */
function groups(): string[] {
  const seedsOf = new Map<string, number[]>();
  for (const { seed, finding } of found) {
    const group = `${finding.kind} of ${finding.list ?? 'all lists'}`;
    seedsOf.set(group, [...(seedsOf.get(group) ?? []), seed]);
  }
  return [...seedsOf].map(
    ([group, its]) => `${group}: ${its.length}, for example by seed ${its.slice(0, 5).join(', ')}`,
  );
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${flag} is a whole number from 1.`);
  return number;
}

/** Plays the same seeds against the program without a guard; returns the exit code. */
function playWithout(name: string): number {
  const guard = guards.find(each => each.name === name);
  if (guard === undefined)
    throw new Error(`--without is one of ${guards.map(each => each.name).join(', ')}.`);
  using mutant = new Mutant(neededBySimulation, name, guard.instead);
  const script = join(mutant.folder, 'test', 'simulation', 'main.ts');
  const flags = process.argv.slice(2).filter(flag => flag !== '--without' && flag !== name);
  return spawnSync(process.execPath, [script, ...flags], { stdio: 'inherit' }).status ?? 1;
}

/** Found cases come first. */
async function replay(): Promise<void> {
  using disk = new Disk();
  for (const { name, scenario } of readRegressions()) {
    const [finding] = (await play(scenario, disk)).findings;
    if (finding !== undefined) returned.push(`${name}: ${finding.kind}: ${finding.what}`);
  }
  for (const words of returned) console.log(`it came back: ${words}`);
}

if (values.without !== undefined) exit(playWithout(values.without));
await replay();
const ticker = setInterval(() => console.log(progress()), progressEveryMs);
await Promise.all(Array.from({ length: workers }, (_, step) => work(step)));
clearInterval(ticker);
const ends = [...verdicts].map(([verdict, times]) => `${times} ${verdict}`);
const habits = [...seedsWith].map(([habit, times]) => `${times} ${habit}`);
const lines = [`lists: ${ends.join(', ')}`, `seeds with: ${habits.join(', ')}`, ...groups(), progress()];
console.log(`\n${lines.join('\n')}`);
process.exitCode = found.length + returned.length > 0 ? 1 : 0;
