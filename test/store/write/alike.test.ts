import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { documentExport } from '../../support/stand-in.ts';

// What grows with the square of how many records are alike takes eight times as long as the first run here, or more.
const timesFirstMax = 5;

/** How long a run of one list takes, in milliseconds. */
async function timedSync(scene: Scene, resource: string): Promise<number> {
  const startedAtMs = performance.now();
  await syncScene(scene, { resources: [resource], pageSize: 1_000 });
  return performance.now() - startedAtMs;
}

test('many rejected records that are alike are met again about as fast as they were stored', async () => {
  await using scene = await setScene({ maxPageSize: 1_000 });
  scene.service.lists.collections = new Array(50_000).fill('null');
  const firstMs = await timedSync(scene, 'collections');
  const againMs = await timedSync(scene, 'collections');
  const stored = 'SELECT count(*) AS n, min(last_run_id) AS runId FROM rejected_records';
  expect(sqlite(scene.database, stored)).toEqual([{ n: 50_000, runId: 2 }]);
  expect(againMs).toBeLessThan(timesFirstMax * firstMs);
});

test('many rows that were alike, and that another program altered, are put right about as fast as they were written', async () => {
  await using scene = await setScene({ maxPageSize: 1_000 });
  scene.service.lists['document-exports'] = new Array(20_000).fill(documentExport(1));
  const firstMs = await timedSync(scene, 'document-exports');
  const titles = 'SELECT source_document_title AS title, count(*) AS n FROM document_exports GROUP BY 1';
  const before = sqlite(scene.database, titles);
  new Database(scene.database).exec("UPDATE document_exports SET source_document_title = 'other'").close();
  const againMs = await timedSync(scene, 'document-exports');
  expect(sqlite(scene.database, titles)).toEqual(before);
  expect(againMs).toBeLessThan(timesFirstMax * firstMs);
});
