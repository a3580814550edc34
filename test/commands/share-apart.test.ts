import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection } from '../support/stand-in.ts';

/** One statement that takes minutes, and that nothing can interrupt. */
const endless =
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n;';

/** A scene whose share was made by one run, and would take minutes in the next one. */
async function withEndlessShare(): Promise<{ scene: Scene; share: string; unfinished: () => string[] }> {
  const scene = await setScene();
  const [share, sql] = [join(scene.folder, 'share.sqlite'), join(scene.folder, 'share.sql')];
  Object.assign(scene.env, { DOCMIRROR_SHARE: share });
  await scene.sync();
  writeFileSync(sql, endless);
  Object.assign(scene.env, { DOCMIRROR_SHARE_SQL: sql });
  scene.service.lists.collections.push(collection(70));
  const unfinished = () => readdirSync(scene.folder).filter(name => name.includes('unfinished'));
  return { scene, share, unfinished };
}

test('watch --http answers while a share is made, and ends with 143 within 5 seconds after SIGTERM', async () => {
  const { scene, share, unfinished } = await withEndlessShare();
  await using _scene = scene;
  const before = readFileSync(share);
  const args = ['watch', '--schedule', '0 0 1 1 *', '--run-now', '--http', '127.0.0.1:0'];
  await using running = spawnCli(args, { env: scene.env, timeoutMs: 40_000 });
  const { stdout } = running.child;
  if (stdout === null) throw new Error('The watch has no standard output.');
  const [line] = await once(stdout, 'data');
  const url = String(line).trim().split(' ').at(-1);
  await vi.waitFor(() => expect(unfinished()).not.toEqual([]), { timeout: 20_000 });
  for (let probe = 0; probe < 20; probe++) {
    const beganAt = performance.now();
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(performance.now() - beganAt).toBeLessThan(1_000);
    await wait(20);
  }
  const beganAt = performance.now();
  running.child.kill('SIGTERM');
  expect(await running.done).toMatchObject({ code: 143 });
  expect(performance.now() - beganAt).toBeLessThan(5_000);
  expect(unfinished()).toEqual([]);
  expect(readFileSync(share).equals(before)).toBe(true);
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM collections')).toEqual([{ n: 8 }]);
});

test('a sync that is told to stop while its share is made ends at once with 3, and the old share stays', async () => {
  const { scene, share, unfinished } = await withEndlessShare();
  await using _scene = scene;
  const before = readFileSync(share);
  await using running = spawnCli(['sync'], { env: scene.env, timeoutMs: 40_000 });
  await vi.waitFor(() => expect(unfinished()).not.toEqual([]), { timeout: 20_000 });
  const beganAt = performance.now();
  running.child.kill('SIGINT');
  expect(await running.done).toMatchObject({ code: 3, stdout: expect.stringContaining('SIGINT') });
  expect(performance.now() - beganAt).toBeLessThan(5_000);
  expect([unfinished(), readFileSync(share).equals(before)]).toEqual([[], true]);
});

test('a share whose docmirror was killed is not put in its place', async () => {
  const { scene, share, unfinished } = await withEndlessShare();
  await using _scene = scene;
  const before = readFileSync(share);
  // Some seconds: the process that makes the share outlives docmirror.
  writeFileSync(scene.env.DOCMIRROR_SHARE_SQL ?? '', endless.replace('2000000000', '20000000'));
  await using running = spawnCli(['sync'], { env: scene.env, timeoutMs: 40_000 });
  await vi.waitFor(() => expect(unfinished()).not.toEqual([]), { timeout: 20_000 });
  running.child.kill('SIGKILL');
  await vi.waitFor(() => expect(unfinished()).toEqual([]), { timeout: 30_000, interval: 100 });
  expect(readFileSync(share).equals(before)).toBe(true);
});
