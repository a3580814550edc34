import { describe, expect, test } from 'vitest';
import { boundsOf, type NamedBound } from './bounds.ts';
import * as core from './core.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import { guards } from './guards.ts';
import { CoreMutant } from './mutant.ts';

const timeout = 600_000;

describe('no record is lost, invented or wrongly removed', { timeout }, () => {
  test.each(boundsOf('long'))('in any small world: $name', bound => {
    const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
  });
});

describe('without a guard, something wrong is found', { timeout }, () => {
  test.each(guards)('$name', async ({ name, instead, world }) => {
    using mutant = new CoreMutant(name, instead);
    expect(findsWrong(await mutant.load(), world)).toBe(true);
  });
});

function findsWrong(mutated: typeof core, { isGrowth, ...bound }: NamedBound): boolean {
  const play = isGrowth ? playEveryGrowth : playEveryWorld;
  return play(mutated, bound, true).wrong.size > 0;
}
