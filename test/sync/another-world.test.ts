import { expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection, webhook } from '../support/stand-in.ts';

// The address leads to another system: the same ids, and all else is different.

const range = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const other = { id: 900, name: 'Another system' };
const otherCollection = (id: number) =>
  collection(id, {
    name: `Test ${id * 7}`,
    sourceConnection: other,
    destinationConnection: { ...other, id: 901 },
  });
const otherWebhook = (id: number) =>
  webhook(id, {
    endpoint: `https://test.example.org/${id}`,
    description: `staging ${id}`,
    events: ['other'],
    connections: [],
  });

test('a list whose records keep nothing but their ids is left as it is until somebody allows it', async () => {
  await using scene = await setScene();
  const { lists } = scene.service;
  lists.collections = range(20).map(id => collection(id));
  lists.webhooks = range(20).map(id => webhook(id));
  await scene.sync();
  const rows = () => sqlite(scene.database, 'SELECT name, _changed_run_id FROM collections ORDER BY id');
  const before = rows();
  // Two of twenty are as they were, and nine tenths are not.
  lists.collections = range(20).map(id => (id > 2 ? otherCollection(id) : collection(id)));
  lists.webhooks = range(20).map(id => otherWebhook(id));
  for (const _ of range(2)) {
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 3, status: 'partial' });
    const reasons = (count: number) => [{ code: 'records_replaced', count }];
    expect(synced.of('collections')).toMatchObject({
      status: 'partial',
      completeness: null,
      updated: 0,
      reasons: reasons(18),
    });
    expect(synced.of('webhooks')).toMatchObject({
      status: 'partial',
      completeness: null,
      reasons: reasons(20),
    });
    expect(rows()).toEqual(before);
  }
  expect(await scene.run('status', '--strict')).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('records replaced'),
  });
  expect(sqlite(scene.database, "SELECT verdict FROM sync_status WHERE resource = 'collections'")).toEqual([
    { verdict: 'records replaced' },
  ]);
  const { stdout } = await scene.run('sync');
  expect(stdout).toContain("18 records can't be those that the mirror has, so nothing was written");
  expect(stdout).toContain('--allow-mass-removal');
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  expect((await scene.sync('--allow-mass-removal')).of('collections')).toMatchObject({
    status: 'completed',
    updated: 18,
  });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a list in which each record keeps one field, or of which few are known, is written', async () => {
  await using scene = await setScene();
  const { lists } = scene.service;
  lists.collections = range(30).map(id => collection(id));
  lists.webhooks = range(19).map(id => webhook(id));
  await scene.sync();
  lists.collections = range(30).map(id => collection(id, { name: `${id} (2026)` }));
  lists.webhooks = range(19).map(id => otherWebhook(id));
  const synced = await scene.sync();
  expect(synced).toMatchObject({ code: 0 });
  expect(synced.of('collections')).toMatchObject({ updated: 30 });
  expect(synced.of('webhooks')).toMatchObject({ updated: 19 });
});
