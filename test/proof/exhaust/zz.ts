import * as real from './core.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import { guards } from './guards.ts';
import { playSettle } from './settle-worlds.ts';

let all = 0;
for (const { name, world } of guards) {
  const t = Date.now();
  const wrong =
    'answers' in world
      ? playSettle(real, world).wrong.size
      : (world.isGrowth ? playEveryGrowth : playEveryWorld)(real, world, true).wrong.size;
  const ms = Date.now() - t;
  all += ms;
  if (wrong || ms > 10000) console.log(name, 'wrong', wrong, ms);
}
console.log(all);
