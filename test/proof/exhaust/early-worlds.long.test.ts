import { expect, test } from 'vitest';
import * as core from './core.ts';
import { earlyBounds } from './early-bounds.ts';
import { playEveryWorld } from './every-world.ts';

test.each(earlyBounds('long'))(
  'no record is lost, invented or wrongly removed if readings end early: $name',
  { timeout: 600_000 },
  bound => {
    expect([...playEveryWorld(core, bound).smallest.values()]).toEqual([]);
  },
);
