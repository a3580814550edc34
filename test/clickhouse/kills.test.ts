import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { randomMirror, randomOf } from './model.ts';
import { expectPublished, publishedRuns, publishModel } from './oracle.ts';

const publisherPath = fileURLToPath(new URL('./publisher.ts', import.meta.url));

const seed = 31;
const rowsPerRun = 150;
const publisherKills = 48;
const engineKills = 8;
/** A publication takes 0.2 to 0.4 s. */
const killAfterMsMax = 300;

test('publishers and engines that are killed at any moment leave nothing that the next publication does not complete', async () => {
  await using engine = await Engine.start();
  const database = await engine.database();
  const random = randomOf(seed);
  let runs = 1;
  let killed = 0;
  for (let round = 1; killed < publisherKills + engineKills; round++) {
    const child = startPublisher([engine.url, database, seed, runs, rowsPerRun].map(String));
    await once(child.stdout ?? child, 'data');
    await wait(random() * killAfterMsMax);
    const isEngine = round % 7 === 0;
    if (isEngine) await engine.kill();
    if (!isEngine && child.exitCode === null) child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    if (isEngine) await engine.start();
    // One that was through before is none that was killed.
    if (isEngine || child.signalCode === 'SIGKILL') killed++;
    if (round % 8 === 0) await expectCompletion(engine, database, runs);
    // A mirror goes on in the meantime, mostly.
    if (random() < 0.6) runs++;
  }
  await expectCompletion(engine, database, runs);
}, 300_000);

function startPublisher(args: string[]): ChildProcess {
  return spawn(process.execPath, [publisherPath, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

async function expectCompletion(engine: Engine, database: string, runs: number): Promise<void> {
  const mirror = randomMirror(seed, runs, rowsPerRun);
  const target = engine.client(database);
  const before = await publishedRuns(target);
  expect(before).toEqual(mirror.runs.slice(0, before.length).map(({ runId }) => runId));
  await publishModel(mirror, target);
  await expectPublished(target, mirror);
  await target.close();
}
