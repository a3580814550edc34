// Plays worlds against the core of proof by windows, and prints the results. These are all small worlds within bounds;
// with --plain those in which full scans have to agree, with --broken those in which readings end early, with --settle those of
// `settle` alone. The length `long` plays a share of the worlds of the largest bounds, which the seed chooses: SEED, or the commit.
// Usage: npm run exhaust [-- --length short|long|whole] [--plain|--broken|--settle] [--only NAME]
import { parseArgs } from 'node:util';
import { boundsOf } from './bounds.ts';
import { seed } from './choices.ts';
import * as core from './core.ts';
import { earlyBounds } from './early-bounds.ts';
import { playEveryGrowth } from './every-growth.ts';
import { type Count, playEveryWorld } from './every-world.ts';
import type { Length, NamedBound } from './named-bound.ts';
import { plainBounds } from './plain-bounds.ts';
import { playSettle, type SettleBound, settleBounds } from './settle-worlds.ts';

const { values } = parseArgs({
  options: {
    length: { type: 'string', default: 'whole' },
    settle: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    broken: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

process.exitCode = playBounds(boundsToPlay(values.length as Length)) > 0 ? 1 : 0;

function boundsToPlay(length: Length): readonly (NamedBound | SettleBound)[] {
  if (values.settle) return settleBounds;
  if (values.plain) return plainBounds;
  return values.broken ? earlyBounds(length) : boundsOf(length);
}

function play(bound: NamedBound | SettleBound): Count {
  if ('answers' in bound) return playSettle(core, bound);
  return bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
}

function playBounds(bounds: readonly (NamedBound | SettleBound)[]): number {
  let worlds = 0;
  const claims = new Map<string, number>();
  let found = 0;
  for (const bound of bounds) {
    const { name } = bound;
    if (!name.includes(values.only)) continue;
    const startedAt = process.cpuUsage();
    const count = play(bound);
    const said = [...count.claims].map(([rule, number]) => `${number} by ${rule}`).join(', ');
    const wrongs = [...count.wrong.values()].reduce((sum, number) => sum + number, 0);
    const seconds = (process.cpuUsage(startedAt).user / 1e6).toFixed(1);
    console.log(
      `${name}: ${count.worlds} worlds, proven ${said || 'none'}, ${wrongs} wrong (${seconds} s of processor time)`,
    );
    for (const [what, story] of count.smallest) console.log(`  ${what}, in\n    ${story.join('\n    ')}`);
    worlds += count.worlds;
    found += wrongs;
    for (const [rule, number] of count.claims) claims.set(rule, (claims.get(rule) ?? 0) + number);
  }
  console.log(
    `\n${worlds} worlds, with the seed ${seed}; proven: ${[...claims].map(([rule, number]) => `${number} by ${rule}`).join(', ')}; ${found} wrong`,
  );
  return found;
}
