import { expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

// If the time grows with the square of the number of equal records, it is at least eight times that of the first run.
const timesFirstMax = 5;

/** How long a run of one list takes, in milliseconds. */
async function timedSync(scene: Scene, resource: string): Promise<number> {
  const startedAtMs = performance.now();
  await syncScene(scene, { resources: [resource], pageSize: 10_000 });
  return performance.now() - startedAtMs;
}

test('many rejected records that are alike are met again about as fast as they were stored', async () => {
  await using scene = await setScene({ maxPageSize: 10_000 });
  scene.service.lists.collections = new Array(10_000).fill('null');
  const firstMs = await timedSync(scene, 'collections');
  const againMs = await timedSync(scene, 'collections');
  const stored = 'SELECT count(*) AS n, min(last_run_id) AS runId FROM rejected_records';
  expect(sqlite(scene.database, stored)).toEqual([{ n: 10_000, runId: 2 }]);
  expect(againMs).toBeLessThan(timesFirstMax * firstMs);
});
