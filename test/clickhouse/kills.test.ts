import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Random } from '../../examples/sample-service/random.ts';
import { spawnCli } from '../support/run-cli.ts';
import { Engine } from './engine.ts';
import { expectPublished, publishedRuns, publishMirror, setChanging } from './mirrors.ts';

const kills = 42;
/** A command begins to publish after about 0.3 s, and publishes for 0.2 to 0.4 s. */
const killAfterMs = { min: 200, max: 800 };

test('publishers and engines that are killed at any moment leave nothing that the next publication does not complete', async () => {
  await using engine = await Engine.start();
  await using mirror = await setChanging(31, 3);
  const database = await engine.database();
  const chance = new Random(31);
  let runs = 3;
  const expectCompletion = async () => {
    const target = engine.client(database);
    const before = await publishedRuns(target);
    expect(before).toEqual(Array.from(before, (_, at) => at + 1));
    await publishMirror(mirror, target);
    await expectPublished(target, mirror);
    await target.close();
  };
  for (let round = 1, killed = 0; killed < kills; round++) {
    const flags = [
      '--url',
      engine.url,
      '--target-database',
      database,
      '--tenant',
      'acme',
      '--give-up-after',
      '0',
    ];
    await using cli = spawnCli(['publish', 'clickhouse', ...flags], { env: mirror.env });
    await wait(chance.integer(killAfterMs.min, killAfterMs.max));
    const isEngine = round % 7 === 0;
    if (isEngine) await engine.kill();
    else cli.child.kill('SIGKILL');
    const { signal } = await cli.done;
    if (isEngine) await engine.start();
    // One that was through before is none that was killed.
    if (isEngine || signal === 'SIGKILL') killed++;
    if (round % 6 === 0) await expectCompletion();
    // A mirror goes on in the meantime, mostly.
    if (chance.chance(0.6)) {
      await mirror.goOn();
      runs++;
    }
  }
  await expectCompletion();
  expect(runs).toBeGreaterThan(10);
}, 300_000);
