import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { executeIn } from '../support/accepted.ts';
import { syncScene } from '../support/in-process.ts';
import { putKept } from '../support/kept.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport, webhook } from '../support/stand-in.ts';

// How many rows rejected records take, and for how long.

const rowsOf = ({ database }: Scene) =>
  sqlite(database, 'SELECT id, resource, run_id, last_run_id, position FROM rejected_records ORDER BY id');
const receiptsOf = ({ database }: Scene, kind: string) =>
  sqlite(
    database,
    `SELECT receipt FROM sync_receipts WHERE receipt ->> 'kind' = '${kind}' ORDER BY leaf_index`,
  ).map(({ receipt }) => JSON.parse(`${receipt}`));
const sound = { code: 0 };

/** A mirror that 0.5.0 made in four runs, with records whose link was another one each time. The third export was mended after two. */
async function setRestless(): Promise<Scene> {
  const scene = await setScene({}, { exports: 5, collections: 3, webhooks: 2 });
  putKept('mirror-0.5.0-rejected', scene.database);
  return scene;
}

const begin = (scene: Scene) => scene.run('sync', '--give-up-after', '0', '--accept-new-base-url');

test('an upgrade makes one row of those in which 0.5.0 noted a record again, and verify holds what is left', async () => {
  await using scene = await setRestless();
  expect(rowsOf(scene)).toHaveLength(15);
  const { lists } = scene.service;
  const link = 'https://files.example/x?signature=5';
  lists['document-exports'].push(documentExport(101, { sourceDocumentVersion: 101, link }));
  lists.collections.push({ id: 'none', link }, { id: 7.5 });
  await begin(scene);
  const position = expect.any(Number);
  expect(rowsOf(scene)).toEqual([
    { id: 1, resource: 'collections', run_id: 1, last_run_id: 5, position },
    { id: 2, resource: 'collections', run_id: 1, last_run_id: 5, position },
    { id: 3, resource: 'document-exports', run_id: 1, last_run_id: 5, position },
    { id: 4, resource: 'document-exports', run_id: 1, last_run_id: 4, position },
    { id: 5, resource: 'document-exports', run_id: 1, last_run_id: 2, position },
  ]);
  const [{ rejected }] = receiptsOf(scene, 'upgrade');
  expect(rejected).toMatchObject([2, 3, 4].map(runId => ({ runId, count: 0 })));
  expect(await scene.run('verify')).toMatchObject(sound);
  expect(await scene.run('erase', 'rejected-records', '5')).toMatchObject(sound);
  expect(await scene.run('verify')).toMatchObject(sound);
  executeIn(
    scene.database,
    "UPDATE rejected_records SET reason = 'x' WHERE id = 1; UPDATE sync_runs SET _actor = 'eve' WHERE id = 3",
  );
  const { code, stdout } = await scene.run('verify');
  expect(code).toBe(4);
  for (const runId of [1, 3]) expect(stdout).toContain(`run ${runId}: books`);
});

test('an upgrade leaves the rejected records of a run that somebody altered, and verify still tells', async () => {
  await using scene = await setRestless();
  executeIn(scene.database, "UPDATE rejected_records SET reason = 'x' WHERE id = 7");
  await begin(scene);
  expect(rowsOf(scene).filter(row => row.run_id === 2)).toHaveLength(4);
  expect(await scene.run('verify')).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('run 2: books'),
  });
});

test('a history that is kept for a time ends for settled rejected records, too', async () => {
  await using scene = await setScene({}, { exports: 3, webhooks: 3 });
  const { webhooks, collections } = scene.service.lists;
  const mended = webhooks.slice();
  webhooks.splice(
    0,
    3,
    ...([1, 2, 3].map(id => ({
      ...(webhook(id) as object),
      endpoint: id,
      secret: `mended-${id}`,
    })) as never[]),
  );
  collections.push({ id: 'stays' });
  await scene.sync();
  webhooks.splice(0, 3, ...mended);
  await scene.sync();
  await scene.sync();
  expect(rowsOf(scene)).toHaveLength(4);
  const keepHistoryMs = 0;
  expect(await syncScene(scene, { keepHistoryMs })).toMatchObject({ status: 'partial' });
  expect(rowsOf(scene)).toMatchObject([{ resource: 'collections', run_id: 1, last_run_id: 4 }]);
  const [prune] = receiptsOf(scene, 'prune');
  expect(prune).toMatchObject({ throughRunId: 0, rejected: [{ runId: 1, count: 1 }] });
  expect(readFileSync(scene.database).includes('mended-')).toBe(false);
  const verified = await scene.run('verify');
  expect(verified).toMatchObject({ ...sound, stdout: expect.not.stringContaining('were deleted') });
  expect(await scene.run('export', '--out', `${scene.folder}/then`, '--as-of-run', '1')).toMatchObject(sound);

  // A number is never given again, because acceptances and erasures go by it.
  collections.push({ id: 'later' });
  await scene.sync();
  expect(rowsOf(scene)).toMatchObject([{ run_id: 1 }, { id: 5 }]);
  collections.splice(-2);
  await scene.sync();
  await scene.sync();
  await syncScene(scene, { keepHistoryMs });
  expect(rowsOf(scene)).toEqual([]);
  expect(await scene.run('verify')).toMatchObject(sound);
  executeIn(
    scene.database,
    "INSERT INTO rejected_records SELECT 9, 1, 1, 'webhooks', 1, 1, 'x', '{}', x'00', null",
  );
  expect(await scene.run('verify')).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('run 1: rejected'),
  });
});

test('a rejected record that a run was not sure to miss is not settled', async () => {
  await using scene = await setScene({}, { exports: 3 });
  scene.service.lists.collections.push({ id: 'x' });
  await scene.sync();
  scene.service.options.status = { collections: 404 };
  for (let night = 0; night < 3; night++) await syncScene(scene, { keepHistoryMs: 0 });
  expect(rowsOf(scene)).toHaveLength(1);
});
