import { describe, expect, test } from 'vitest';
import { boundsOf } from './bounds.ts';
import { seed } from './choices.ts';
import * as core from './core.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import { guards } from './guards.ts';
import { CoreMutant } from './mutant.ts';
import type { NamedBound } from './named-bound.ts';
import { growingBounds } from './plain-bounds.ts';
import { playSettle, type SettleBound, settleBounds } from './settle-worlds.ts';
import './worlds.test.ts';

// What fails once fails always.
const options = { timeout: 600_000, retry: 0 };

describe(`no record is lost, invented or wrongly removed, with the seed ${seed}`, options, () => {
  test.each([...boundsOf('long'), ...growingBounds('long')])('in any small world: $name', bound => {
    const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
  });
});

test.each(settleBounds)(
  'a record has the texts of one answer, and no row too many: $name',
  options,
  bound => {
    expect([...playSettle(core, bound).smallest.values()]).toEqual([]);
  },
);

describe('without a guard, something wrong is found', options, () => {
  test.each(guards)('$name', async ({ name, instead, world }) => {
    using mutant = new CoreMutant(name, instead);
    expect(findsWrong(await mutant.load(), world)).toBe(true);
  });
});

function findsWrong(mutated: typeof core, world: NamedBound | SettleBound): boolean {
  if ('answers' in world) return playSettle(mutated, world, true).wrong.size > 0;
  const play = world.isGrowth ? playEveryGrowth : playEveryWorld;
  return play(mutated, world, true).wrong.size > 0;
}
