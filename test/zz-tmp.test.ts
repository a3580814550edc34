import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyMirror } from '../src/store/verify.ts';
import { MovingList } from './moving-list.ts';
import { memoryFolder, run } from './in-process.ts';
test('x', async () => {
  await using folder = memoryFolder();
  const modes = new Set<string|null>();
  for (let seed = 0; seed < 20; seed++) {
    const path = join(folder.path, `${seed}.sqlite`);
    const source = new MovingList(60, 5, 2);
    for (let n = 0; n < 8; n++) {
      const moves = Array.from({ length: (seed + n) % 3 }, (_, i) => ({ kind: n === 5 ? 'update' as const : n===6 ? 'delete' as const : 'insert' as const, at: n < 5 ? 0 : seed + i }));
      source.play([moves]);
      const s = await run(path, source, { pageSize: 5, fullEveryMs: 86400000 });
      modes.add(s.resources[0]!.mode);
      const v = await verifyMirror(path, { limit: 5, signal: new AbortController().signal });
      expect(v.differences).toEqual([]);
    }
  }
  console.log([...modes]);
});
