// Plays worlds against the core of proof by windows, and prints the results. By default these are all small worlds within bounds.
// With --almost 1 it plays lists that are almost in order, with so many changes.
// With --plain it counts how often plain readings would be wrong where windows are right.
// With --random 6000 [--from 1] it plays that number of larger, random worlds.
// Usage: npm run exhaust [-- --length short|long|whole]
import { parseArgs } from 'node:util';
import { almostBounds, boundsOf, type Length, type NamedBound, plainBounds } from './bounds.ts';
import * as core from './core.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import { RandomTables } from './random-tables.ts';
import { playWorld } from './random-worlds.ts';

const { values } = parseArgs({
  options: {
    length: { type: 'string', default: 'whole' },
    random: { type: 'string' },
    from: { type: 'string', default: '1' },
    plain: { type: 'boolean', default: false },
    almost: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});

if (values.plain) playBounds(plainBounds);
else if (values.almost !== undefined) playBounds(almostBounds(Number(values.almost)));
else {
  const wrong =
    values.random === undefined
      ? playBounds(boundsOf(values.length as Length))
      : playRandom(Number(values.random));
  process.exitCode = wrong > 0 ? 1 : 0;
}

function playBounds(bounds: readonly NamedBound[]): number {
  let worlds = 0;
  const claims = new Map<string, number>();
  let found = 0;
  for (const { name, ...bound } of bounds) {
    if (!name.includes(values.only)) continue;
    const startedAt = performance.now();
    const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
    const said = [...count.claims].map(([rule, number]) => `${number} by ${rule}`).join(', ');
    const wrongs = [...count.wrong.values()].reduce((sum, number) => sum + number, 0);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${name}: ${count.worlds} worlds, proven ${said || 'none'}, ${wrongs} wrong (${seconds} s)`);
    for (const [what, story] of count.smallest) console.log(`  ${what}, in\n    ${story.join('\n    ')}`);
    worlds += count.worlds;
    found += wrongs;
    for (const [rule, number] of count.claims) claims.set(rule, (claims.get(rule) ?? 0) + number);
  }
  console.log(
    `\n${worlds} worlds; proven: ${[...claims].map(([rule, number]) => `${number} by ${rule}`).join(', ')}; ${found} wrong`,
  );
  return found;
}

function playRandom(count: number): number {
  const tables = new RandomTables();
  const from = Number(values.from);
  for (let seed = from; seed < from + count; seed++) tables.add(playWorld(core, seed));
  console.log(tables.lines().join('\n'));
  return tables.wrongCount;
}
