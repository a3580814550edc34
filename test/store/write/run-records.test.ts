import { expect, test } from 'vitest';
import { listOf } from '../../../src/contract/lists.ts';
import { SqliteMirror } from '../../../src/store/write/mirror.ts';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

/** How each run left each list, by the record of the run and by its receipt. */
function states(database: string) {
  return sqlite(
    database,
    `SELECT l.run_id, l.resource, l.status, l.record_count AS count, l.checksum,
       list.value ->> 'recordCount' AS counted, list.value ->> 'checksum' AS summed
     FROM sync_run_resources l JOIN sync_receipts r ON r.run_id = l.run_id,
       json_each(r.receipt, '$.lists') list
     WHERE list.value ->> 'resource' = l.resource ORDER BY l.run_id, l.resource`,
  );
}

/** A run whose process dies while it is at a list. */
async function runAndDie({ database, service }: Scene): Promise<void> {
  const mirror = SqliteMirror.open(database);
  const startedAt = new Date().toISOString();
  await mirror.beginRun({
    trigger: 'manual',
    startedAt,
    baseUrl: service.url,
    docmirrorVersion: 'test',
    actor: '',
  });
  await mirror.openList(listOf('webhooks'), startedAt);
  mirror.close();
}

test('a run records the state of each list after it, also one that it could not write, as its receipt does', async () => {
  await using scene = await setScene({}, { exports: 5, collections: 2, webhooks: 3 });
  const { options } = scene.service;
  options.status = { collections: 403 };
  const first = await syncScene(scene);
  expect(first.of('collections')).toMatchObject({ status: 'failed', checksum: '0'.repeat(32) });
  options.status = {};
  const second = await syncScene(scene);
  options.status = { webhooks: 403 };
  const third = await syncScene(scene);
  expect(third.of('webhooks')).toMatchObject({
    status: 'failed',
    checksum: second.of('webhooks').checksum,
  });
  await runAndDie(scene);
  options.status = {};
  await syncScene(scene);

  const left = states(scene.database);
  for (const { count, checksum, counted, summed } of left)
    expect([count, checksum]).toEqual([counted, summed]);
  const notWritten = left.filter(({ status }) => status !== 'completed');
  expect(notWritten.map(({ run_id, resource, status, count }) => [run_id, resource, status, count])).toEqual([
    [1, 'collections', 'failed', 0],
    [3, 'webhooks', 'failed', 3],
    [4, 'webhooks', 'interrupted', 3],
  ]);
  expect((await scene.run('verify')).code).toBe(0);
});
