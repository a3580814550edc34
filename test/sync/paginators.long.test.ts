import { expect, test } from 'vitest';
import {
  type ListName,
  listsOfNights,
  nightsOfMirror,
  type PaginatedNight,
  paginatedNights,
} from '../support/paginated-nights.ts';
import { type PaginatorName, paginators } from '../support/paginators.ts';

// Six nights of each paginator, each list and each pace of changes. NIGHTS=60 plays ten such mirrors, SEED=n begins with another one.

const nights = Number(process.env.NIGHTS ?? nightsOfMirror);
const firstSeed = Number(process.env.SEED ?? 1);
const seeds = Array.from({ length: Math.ceil(nights / nightsOfMirror) }, (_, at) => firstSeed + at);
const rates = [0, 0.1, 0.6] as const;

type Verdict = 'proven' | 'unproven';

/** What each night says, by changes between two answers. */
const expected: Readonly<Record<PaginatorName, Readonly<Record<(typeof rates)[number], Verdict>>>> = {
  plain: { 0: 'proven', 0.1: 'proven', 0.6: 'proven' },
  deduced: { 0: 'proven', 0.1: 'proven', 0.6: 'proven' },
  'cut at a count': { 0: 'proven', 0.1: 'proven', 0.6: 'proven' },
  orphans: { 0: 'proven', 0.1: 'proven', 0.6: 'proven' },
  'count, then rows': { 0: 'proven', 0.1: 'proven', 0.6: 'proven' },
  'rows, then count': { 0: 'proven', 0.1: 'proven', 0.6: 'proven' },
  'join rows': { 0: 'unproven', 0.1: 'unproven', 0.6: 'unproven' },
};

const names = Object.keys(paginators) as PaginatorName[];
const lists = Object.keys(listsOfNights) as ListName[];
const scenes = names.flatMap(paginator =>
  lists.flatMap(list => rates.map(rate => ({ paginator, list, rate }))),
);

/** What is wrong with a night; empty if nothing is. */
function faultsOf(
  { seed, night, code, outcome, falseClaims, isExceptional, story }: PaginatedNight,
  verdict: Verdict,
): string[] {
  const faults = [...falseClaims];
  const isAlarm = code !== 0 && !isExceptional;
  if (verdict === 'proven' && isAlarm) faults.push(`exit code ${code}: ${outcome.reason}`);
  if (verdict === 'unproven' && code !== 3) faults.push(`exit code ${code}, though it is not honest`);
  return faults.map(fault => `seed ${seed}, night ${night}: ${fault}. ${story}`);
}

test.each(scenes)(
  'nights of $paginator are told as they are: $list, $rate changes an answer',
  async scene => {
    const faults: string[] = [];
    let codes = '';
    for (const seed of seeds)
      for await (const night of paginatedNights(scene, seed)) {
        faults.push(...faultsOf(night, expected[scene.paginator][scene.rate]));
        codes += night.code;
      }
    if (process.env.NIGHTS !== undefined)
      process.stdout.write(`${[scene.paginator, scene.list, scene.rate, codes].join('\t')}\n`);
    expect(faults).toEqual([]);
  },
  600_000,
);
