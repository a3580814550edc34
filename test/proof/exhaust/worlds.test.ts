import { expect, test } from 'vitest';
import { boundsOf } from './bounds.ts';
import * as core from './core.ts';
import { earlyBounds } from './early-bounds.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import type { NamedBound } from './named-bound.ts';
import { playSettle, settleBounds } from './settle-worlds.ts';

test.each(boundsOf('short'))(
  'no record is lost, invented or wrongly removed in any small world: $name',
  bound => {
    const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.worlds).toBeGreaterThan(0);
  },
);

test.each(earlyBounds('short'))(
  'no record is lost, invented or wrongly removed if a reading ends early and the next run goes on with it: $name',
  bound => {
    const count = playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.claims.get('key (gone on with)')).toBeGreaterThan(0);
  },
);

test('what is judged is since when a list is proven: as of its last part some would be wrong', () => {
  const bound = earlyBounds('short').find(({ name }) => name.includes('rise')) as NamedBound;
  const count = playEveryWorld(core, { ...bound, isJudgedByLastPart: true }, true);
  expect(count.wrong.get('kept although gone, by key (gone on with)')).toBeGreaterThan(0);
});

test.each(settleBounds.slice(0, 2))(
  'a record has the texts of one answer, and no row too many: $name',
  bound => {
    const count = playSettle(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.worlds).toBeGreaterThan(0);
  },
);
