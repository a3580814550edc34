import { once } from 'node:events';
import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Random } from '../../src/sample/random.ts';
import { verifyMirror } from '../../src/store/verify/verify.ts';
import { tamper } from '../store/verify/tamper.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

const kills = 40;
const seed = Number(process.env.DOCMIRROR_TEST_SEED ?? Date.now() % 1_000_000);
const { signal } = new AbortController();
const altered = "UPDATE document_exports SET source_document_title = 'other' WHERE id % 3 = 0";

/** Rebuilds a mirror, and kills that so long after it has opened the mirror; returns how long it was at work, and whether it had ended. */
async function rebuild(scene: Scene, path: string, killAfterMs: number) {
  const args = ['sync', '--rebuild', '--page-size', '1000', '--max-removals', '100%'];
  await using cli = spawnCli(args, { env: { ...scene.env, DOCMIRROR_DATABASE: path } });
  const exit = once(cli.child, 'exit');
  const isOpen = () => statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined;
  while (!isOpen() && cli.child.exitCode === null) await wait(1);
  const startedAt = performance.now();
  await Promise.race([exit, wait(killAfterMs)]);
  const hasEnded = cli.child.exitCode !== null;
  cli.child.kill('SIGKILL');
  await exit;
  return { hasEnded, tookMs: performance.now() - startedAt };
}

test('a rebuild that is killed at any moment leaves a mirror that is refused as before, or one that is sound; the next one succeeds', {
  timeout: 900_000,
}, async () => {
  console.log(`seed ${seed}: set DOCMIRROR_TEST_SEED to it to have the same moments`);
  await using scene = await setScene({}, { exports: 3_000 });
  const { service } = scene;
  await syncScene(scene, { pageSize: 1_000 });
  service.lists['document-exports'].splice(4, 3);
  await syncScene(scene, { pageSize: 1_000 });
  const differencesIn = async (path: string) => (await verifyMirror(path, { limit: 5, signal })).differences;
  const chance = new Random(seed);
  let wholeMs = 60_000;
  let killed = 0;
  // The first one is not killed, and shows how long one takes. One that ends before it is killed shows nothing.
  for (let n = 0; killed < kills && n < 3 * kills; n++) {
    const database = join(scene.folder, `${n}.sqlite`);
    copyFileSync(scene.database, database);
    expect(tamper(database, altered)).toBe(true);
    const { hasEnded, tookMs } = await rebuild(
      scene,
      database,
      n === 0 ? wholeMs : chance.fraction() * wholeMs,
    );
    if (n === 0) wholeMs = tookMs;
    if (hasEnded) continue;
    killed++;
    const titles = "SELECT count(*) AS n FROM document_exports WHERE source_document_title = 'other'";
    const rebuilds = `SELECT count(*) AS n FROM sync_receipts WHERE receipt ->> 'kind' = 'rebuild'`;
    const isRebuilt = sqlite(database, rebuilds)[0]?.n === 1;
    expect(sqlite(database, titles)).toEqual([{ n: isRebuilt ? 0 : 999 }]);
    const target = { service, database };
    if (isRebuilt) expect(await differencesIn(database)).toEqual([]);
    else await expect(syncScene(target)).rejects.toMatchObject({ code: 'mirror_altered' });
    expect(await syncScene(target, { mayRebuild: true, pageSize: 1_000 })).toMatchObject({ code: 0 });
    expectExactMirror(database, service);
    expect(await differencesIn(database)).toEqual([]);
  }
  expect(killed).toBe(kills);
});
