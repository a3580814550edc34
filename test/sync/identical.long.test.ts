import { expect, test } from 'vitest';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { make, setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

/** How long a first sync, one after a twin came and one after a twin went take, in milliseconds. */
async function durations(count: number): Promise<number[]> {
  await using scene = await setScene({ maxPageSize: 1000 });
  const exports = make(count, () => documentExport(1));
  scene.service.lists['document-exports'] = exports;
  const taken: number[] = [];
  for (const change of [() => 0, () => exports.push(documentExport(1)), () => exports.splice(5, 1).length]) {
    change();
    const startedAt = performance.now();
    const { code } = await syncScene(scene, { resources: ['document-exports'], timeoutMs: 60_000 });
    taken.push(performance.now() - startedAt);
    expect(code).toBe(0);
    expect(sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')).toEqual([
      { n: exports.length },
    ]);
  }
  return taken;
}

test('100,000 records of one content cost as much each as 20,000 do', { timeout: 120_000 }, async () => {
  const few = await durations(20_000);
  const many = await durations(100_000);
  for (const [at, ms] of many.entries()) expect(ms / (few[at] ?? 0)).toBeLessThan(5 * 2.5);
});
