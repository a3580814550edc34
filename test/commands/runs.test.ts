import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

test('all runs of years are listed at once, each with its lists', async () => {
  await using scene = await setScene();
  await scene.sync();
  const database = new Database(scene.database);
  database.exec(
    `WITH RECURSIVE later(id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM later WHERE id < 40000)
     INSERT INTO sync_runs (id, status, "trigger", started_at, docmirror_version, base_url)
     SELECT later.id, status, "trigger", started_at, docmirror_version, base_url FROM later, sync_runs;
     INSERT INTO sync_run_resources (run_id, resource, status, started_at)
     SELECT sync_runs.id, resource, lists.status, lists.started_at
     FROM sync_runs JOIN sync_run_resources lists ON run_id = 1 WHERE sync_runs.id > 1`,
  );
  database.close();
  const { code, stdout, stderr } = await scene.run('runs', '--json', '--limit', '40000');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const runs = JSON.parse(stdout) as { runId: number; resources: { resource: string }[] }[];
  expect(runs.map(({ runId }) => runId)).toEqual(Array.from({ length: 40_000 }, (_, at) => 40_000 - at));
  for (const { resources } of [runs.at(0), runs.at(-1)] as typeof runs)
    expect(resources.map(({ resource }) => resource)).toEqual([
      'document-exports',
      'collections',
      'webhooks',
    ]);
});

test('a partial run says why it is', async () => {
  await using scene = await setScene({}, { exports: 60, collections: 5, webhooks: 2 });
  await scene.sync();
  scene.service.lists['document-exports'].splice(0, 50);
  (scene.service.lists.collections[0] as unknown as Record<string, unknown>).id = 'none';
  await scene.sync('--full');
  scene.service.options.status = { webhooks: 403 };
  await scene.sync('--full');
  const { stdout } = await scene.run('runs');
  const ends = stdout.split('\n').map(line => /(partial|completed)[ \d]+(.*)$/.exec(line)?.slice(1));
  expect(ends.filter(end => end !== undefined)).toEqual([
    ['partial', 'forbidden'],
    ['partial', 'records rejected, removals withheld'],
    ['completed', ''],
  ]);
});
