// Plays small worlds whose lists are almost in order, against the core without the limit that keeps slack short against pages.
// Usage: node test/proof/exhaust/almost.ts [NAME] [CHANGES]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { playEveryGrowth } from './every-growth.ts';
import type { Bound } from './every-world.ts';
import { playEveryWorld } from './every-world.ts';
import { CoreMutant } from './mutant.ts';

const [only = '', changes = '1', variant = '', part = ''] = process.argv.slice(2);
const base = {
  quirk: 'none',
  isDown: false,
  recordsMin: 0,
  recordsMax: 9,
  underWayMax: 1,
  changesMax: Number(changes),
  ...(part === '' ? {} : { part: part.split('/').map(Number) as [number, number] }),
} as const;
const even = (count: number) => Array.from({ length: count }, (_, at) => (at + 1) * 256);
type Named = Bound & { readonly name: string; readonly isGrowth?: boolean };
const bounds: Named[] = [];
for (const order of ['id', 'ties'] as const) {
  for (const isLearnt of [true, false]) {
    const known = isLearnt ? 'remembered' : 'observed';
    const ties = (keys: number[]) =>
      order === 'ties' ? [...keys, keys[1] as number].sort((a, b) => a - b) : keys;
    for (const [what, keys, slack] of [
      ['1 step', even(4), 256],
      ['2 steps', even(4), 512],
      ['clusters', [256, 264, 512, 520], 8],
      ['a cluster of 3', [256, 264, 272, 512], 16],
    ] as const)
      bounds.push({
        ...base,
        name: `any pages, ${order}, ${what}, ${known}`,
        order,
        keys: ties([...keys]),
        slack,
        isLearnt,
        largest: 4,
        overlap: 1,
        anyPages: 2,
      });
    for (const isDown of [false, true])
      for (const [what, keys, slack, largest, overlap] of [
        [
          'clusters',
          order === 'ties' ? [256, 264, 512, 520, 768, 776] : [256, 264, 512, 520, 768, 776, 1024, 1032],
          8,
          5,
          2,
        ],
        ['clusters of 3', [256, 264, 272, 512, 768, 776], 16, 5, 2],
        ['long clusters of 3', [256, 264, 272, 512, 520, 528, 768, 776, 784], 16, 7, 3],
        ['1 step', even(9), 256, 8, 3],
      ] as const)
        bounds.push({
          ...base,
          name: `prove, ${order}, ${what}, ${isDown ? 'down' : 'up'}, ${known}`,
          order,
          keys: ties([...keys]),
          slack,
          isLearnt,
          isDown,
          largest: largest + (order === 'ties' || largest === 5 ? 1 : 0),
          overlap,
        });
    bounds.push({
      ...base,
      name: `unstable, ${order}, clusters, ${known}`,
      order,
      keys: ties([256, 264, 512, 520, 768, 776]),
      slack: 8,
      isLearnt,
      largest: 6,
      overlap: 2,
      isUnstable: true,
    });
  }
  for (const isDown of [false, true])
    bounds.push({
      ...base,
      name: `growth, ${order}, ${isDown ? 'down' : 'up'}`,
      isGrowth: true,
      order,
      keys: [256, 512, 520, 768, 776, 1024, 1032],
      slack: 8,
      isLearnt: true,
      isDown,
      largest: 6,
      overlap: 2,
    });
  for (const isDown of [false, true])
    bounds.push({
      ...base,
      name: `growth of 2 steps, ${order}, ${isDown ? 'down' : 'up'}`,
      isGrowth: true,
      order,
      keys: [256, 512, 768, 776, 784, 1024, 1032],
      slack: 16,
      isLearnt: true,
      isDown,
      largest: 7,
      overlap: 2,
    });
}

using mutant = new CoreMutant('slack is short against pages', '');
// The overlap of the bound is enough.
const file = join(mutant.folder, 'src', 'core', 'window.ts');
writeFileSync(
  file,
  readFileSync(file, 'utf8').replace('return slack;\n', 'return slack;\n  if (slack > 0) return 0;\n'),
);
if (variant === 'whole') {
  const removal = join(mutant.folder, 'src', 'core', 'removal.ts');
  const text = readFileSync(removal, 'utf8');
  writeFileSync(
    removal,
    text.replace(
      'hasKey ? !isIncluded(byKey.open) : isProven;',
      'isProven && (!hasKey || !isIncluded(byKey.open));',
    ),
  );
}
const core =
  variant === 'base'
    ? await import('../../../.base/test/proof/exhaust/core.ts' as string)
    : await mutant.load();
let wrong = 0;
for (const { name, ...bound } of bounds) {
  if (!name.includes(only)) continue;
  const startedAt = performance.now();
  const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
  const said = [...count.claims].map(([rule, number]) => `${number} by ${rule}`).join(', ');
  const wrongs = [...count.wrong.values()].reduce((sum, number) => sum + number, 0);
  wrong += wrongs;
  console.log(
    `${name}: ${count.worlds} worlds, proven ${said || 'none'}, ${wrongs} wrong (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
  );
  for (const [what, story] of count.smallest)
    console.log(`  ${what} (${count.wrong.get(what)}), in\n    ${story.join('\n    ')}`);
}
console.log(`${wrong} wrong`);
