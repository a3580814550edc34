import { describe, expect, test } from 'vitest';
import { boundsOf } from './bounds.ts';
import * as core from './core.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import { guards, type Worlds } from './guards.ts';
import { CoreMutant } from './mutant.ts';
import { playWorld } from './random-worlds.ts';

const timeout = 600_000;

describe('no record is lost, invented or wrongly removed', { timeout }, () => {
  test.each(boundsOf('long'))('in any small world: $name', bound => {
    const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
  });

  test('in larger ones, over several nights', () => {
    for (let seed = 1_001; seed <= 1_600; seed++) expect(wrongOfSeed(core, seed)).toEqual([]);
  });
});

describe('without a guard, something wrong is found', { timeout }, () => {
  test.each(guards)('$name', async ({ name, instead, worlds }) => {
    using mutant = new CoreMutant(name, instead);
    expect(findsWrong(await mutant.load(), worlds)).toBe(true);
  });
});

function findsWrong(mutated: typeof core, worlds: Worlds): boolean {
  if (worlds.kind === 'every') return playEveryWorld(mutated, worlds.bound, true).wrong.size > 0;
  if (worlds.kind === 'growth') return playEveryGrowth(mutated, worlds.bound, true).wrong.size > 0;
  for (let seed = 1; seed <= worlds.seedsMax; seed++) {
    if (wrongOfSeed(mutated, seed, worlds.choice).length > 0) return true;
  }
  return false;
}

function wrongOfSeed(tried: typeof core, seed: number, choice: Parameters<typeof playWorld>[2] = {}) {
  return playWorld(tried, seed, choice).findings.filter(({ what }) => what !== 'late');
}
