import { describe, expect, test } from 'vitest';
import { seed } from './choices.ts';
import * as core from './core.ts';
import { earlyBounds } from './early-bounds.ts';
import { playEveryWorld } from './every-world.ts';

describe(`with the seed ${seed}`, { timeout: 600_000, retry: 0 }, () => {
  test.each(earlyBounds('long'))(
    'no record is lost, invented or wrongly removed if readings end early: $name',
    bound => {
      expect([...playEveryWorld(core, bound).smallest.values()]).toEqual([]);
    },
  );
});
