import { expect, test } from 'vitest';
import { boundsOf } from './bounds.ts';
import * as core from './core.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import { playSettle, settleBounds } from './settle-worlds.ts';

test.each(boundsOf('short'))(
  'no record is lost, invented or wrongly removed in any small world: $name',
  bound => {
    const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.worlds).toBeGreaterThan(0);
  },
);

test.each(settleBounds.slice(0, 2))(
  'a record has the texts of one answer, and no row too many: $name',
  bound => {
    const count = playSettle(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.worlds).toBeGreaterThan(0);
  },
);
