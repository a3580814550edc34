// Prints the requests of known nights, a line each: kind, night, list, requests, verdict. With `--root ../other`, the code of that
// checkout makes them: a `diff` of two outputs shows which nights cost more or less, or end otherwise.
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { ListOutcome } from '../src/store/tables/run.ts';

const parts = ['nights', 'almost', 'busy', 'databases'] as const;
const { values } = parseArgs({
  options: {
    root: { type: 'string' },
    part: { type: 'string', multiple: true, default: [...parts] },
    seeds: { type: 'string', default: '3' },
  },
});
const own = dirname(import.meta.dirname);
if (values.root !== undefined) loadFrom(resolve(values.root));

type Verdict = Pick<ListOutcome, 'mode' | 'completeness' | 'status'>;

/** Takes `src` from another checkout, and the file that runs it; the nights are those of this one. */
function loadFrom(root: string): void {
  if (!existsSync(join(root, 'src'))) throw new Error(`there is no src in ${root}`);
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      if (!found.url.startsWith('file:')) return found;
      const path = relative(own, fileURLToPath(found.url));
      const isTheirs = path.startsWith('src/') || path === 'test/support/in-process.ts';
      return isTheirs ? { ...found, url: pathToFileURL(join(root, path)).href } : found;
    },
  });
}

function print(kind: string, night: number, list: string, requests: number, verdict: string): void {
  process.stdout.write(`${[kind, night, list, requests, verdict].join('\t')}\n`);
}

function verdictOf({ mode, completeness, status }: Verdict): string {
  return `${mode} ${completeness ?? status}`;
}

async function nights(): Promise<void> {
  const { honestKinds, honestNights } = await import('../test/support/honest-nights.ts');
  for (const [name, kind] of Object.entries(honestKinds))
    for await (const { night, source, requests, outcome } of honestNights(kind))
      print(`nights: ${name}`, night, source.resource, requests, verdictOf(outcome));
}

async function almost(): Promise<void> {
  const lists = await import('../test/support/almost-ordered.ts');
  const played = [
    ...Object.entries({ ...lists.almostOrdered, 'dates without times': lists.onlyDates }).map(
      ([name, kind]) => [name, lists.almostOrderedNights(kind)] as const,
    ),
    ...[0.3, 1, 3].flatMap(rate =>
      [1, 2, 3].map(
        seed =>
          [`no visible order, ${rate} changes, seed ${seed}`, lists.inNoVisibleOrder(rate, seed)] as const,
      ),
    ),
  ];
  for (const [name, runs] of played)
    for await (const { night, source, requests, outcome } of runs)
      print(`almost: ${name}`, night, source.resource, requests, verdictOf(outcome));
}

/** One request at a time: with more, it is the network that decides which change comes before which answer. */
const concurrency = 1;

async function busy(): Promise<void> {
  const { habits } = await import('./busy-list.ts');
  const { busyRuns, rates } = await import('./busy-runs.ts');
  for (const habit of habits)
    for (const rate of rates)
      for (const isNewestFirst of [false, true])
        for await (const { number, list, outcome } of busyRuns(
          { habit, size: 50, rate },
          { seed: 1, runs: 10, concurrency, isNewestFirst },
        ))
          print(
            `busy: ${habit}${isNewestFirst ? ', newest first' : ''}, ${rate} changes a reading`,
            number,
            list.resource,
            outcome.requests,
            verdictOf(outcome),
          );
}

/** PostgreSQL decides the order of rows that are equal, and so some requests: medians over a few seeds. */
async function databases(): Promise<void> {
  const { PGlite } = await import('@electric-sql/pglite');
  const tables = await import('../test/support/database-nights.ts');
  const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
  const database = await PGlite.create();
  try {
    for (const scene of [...tables.orderedTables, ...tables.unorderedTables]) {
      const runs: { night: number; requests: number; verdict: string }[] = [];
      for (const seed of seeds)
        for await (const { night, outcome } of tables.databaseNights(database, scene, { seed, concurrency }))
          runs.push({ night, requests: outcome.requests, verdict: verdictOf(outcome) });
      const order = scene.orderBy === null ? 'no ORDER BY' : `ORDER BY ${scene.orderBy}`;
      for (let night = 0; night < scene.nights; night++) {
        const of = runs.filter(each => each.night === night);
        const requests = of.map(each => each.requests).sort((a, b) => a - b);
        const verdicts = of.map(each => each.verdict).sort();
        print(
          `databases: ${order}, ${scene.writesPerAnswer} writes an answer`,
          night,
          'document-exports',
          requests[Math.floor(requests.length / 2)] ?? 0,
          `median of ${requests.length}: ${verdicts.join(', ')}`,
        );
      }
    }
  } finally {
    await database.close();
  }
}

const players = { nights, almost, busy, databases };
for (const part of parts) if (values.part.includes(part)) await players[part]();
