import { expect, test } from 'vitest';
import { expectExactMirror } from '../support/oracle.ts';
import { setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';
import { startCache } from './servers.ts';

test('a cache on the way to the service is asked for none of its own answers', async () => {
  await using scene = await setScene({ maxPageSize: 10 }, { exports: 35, collections: 2, webhooks: 1 });
  await using cache = await startCache(Number(new URL(scene.service.url).port));
  scene.env.DOCMIRROR_BASE_URL = `http://127.0.0.1:${cache.port}`;
  expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });

  const exports = scene.service.lists['document-exports'];
  exports.shift();
  exports.push(documentExport(36));
  expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
  expectExactMirror(scene.database, scene.service);
  expect(cache.kept).toEqual([]);
});
