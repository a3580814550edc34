import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { CancelledError } from '../../src/errors.ts';
import {
  differenceOf,
  endsOf,
  type LongList,
  setLongList,
  syncLong,
  takeRequests,
} from '../support/ended-early.ts';
import { expectExactMirror, expectSound } from '../support/oracle.ts';
import { runProcess, spawnCli, sqlite } from '../support/run-cli.ts';

const start = (scene: LongList, ...args: string[]) =>
  spawnCli(['sync', '--json', '--resource', scene.resource, ...args], { env: scene.env });

test('ten breaks in a reading of 600 pages cost hardly more than none', async () => {
  const size = 20;
  await using clean = await setLongList(600, { size });
  await syncLong(clean);
  const whole = takeRequests(clean).length;
  await using scene = await setLongList(600, { size });
  const { service, resource } = scene;
  let asked = 0;
  for (let part = 0; part < 10; part++) {
    const stop = new AbortController();
    let n = 0;
    service.onRequest = () => {
      if (++n === Math.floor(whole / 11)) stop.abort(new CancelledError('SIGTERM'));
    };
    const { of } = await syncLong(scene, { signal: stop.signal });
    expect(of(resource)).toMatchObject({ status: 'cancelled', completeness: 'unproven' });
    asked += takeRequests(scene).length;
  }
  service.onRequest = undefined;
  const last = await syncLong(scene);
  expect(last).toMatchObject({ code: 0 });
  expect(last.of(resource)).toMatchObject({ completeness: 'proven' });
  asked += takeRequests(scene).length;
  expect(asked / whole).toBeLessThan(1.15);
  expectExactMirror(scene.database, scene.service);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a second signal ends a run that is keeping what it has read: nothing of it is there, and the file is whole', async () => {
  await using scene = await setLongList(120, { size: 50 });
  const { service, database, env } = scene;
  let n = 0;
  let writer: Database.Database | undefined;
  await using cli = start(scene);
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  service.onRequest = async () => {
    if (++n <= 70) return;
    // Nobody else can write now.
    writer ??= new Database(database).exec('BEGIN IMMEDIATE');
    hold();
    await wait(10_000, undefined, { ref: false });
  };
  await Promise.race([isHeld, cli.done]);
  cli.child.kill('SIGTERM');
  // One that comes within a second counts as the same.
  await wait(1_500);
  expect(cli.child.exitCode).toBeNull();
  cli.child.kill('SIGTERM');
  expect(await cli.done).toMatchObject({ code: 143 });
  writer?.close();
  await service.close();
  expect(sqlite(database, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 0 }]);
  expect(endsOf(scene)).toMatchObject([{ status: 'running', completeness: null }]);
  expectSound(database);
  expect(await runProcess(['verify'], { env })).toMatchObject({ code: 0 });
});

test('one signal does not end a run that is keeping what it has read', async () => {
  await using scene = await setLongList(120, { size: 50 });
  const { service, database } = scene;
  let n = 0;
  let writer: Database.Database | undefined;
  await using cli = start(scene, '--give-up-after', '700ms');
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  service.options.faults = () => {
    if (++n <= 70) return undefined;
    // The run has to wait before it can write.
    writer ??= new Database(database).exec('BEGIN IMMEDIATE');
    hold();
    return { kind: 'status', status: 401 };
  };
  await Promise.race([isHeld, cli.done]);
  await wait(3_000);
  cli.child.kill('SIGTERM');
  await wait(500);
  expect(cli.child.exitCode).toBeNull();
  writer?.close();
  expect(await cli.done).toMatchObject({ code: 12 });
  expect(endsOf(scene)).toMatchObject([{ error: 'unauthorized', completeness: 'unproven' }]);
  service.options.faults = undefined;
  takeRequests(scene);
  expect(await syncLong(scene)).toMatchObject({ code: 0 });
  expect(takeRequests(scene).length).toBeLessThan(100);
  expectExactMirror(scene.database, scene.service);
});

test('rows are there to be read while a long reading goes on', async () => {
  await using scene = await setLongList(120, { size: 50 });
  const { service, env } = scene;
  service.options.latencyMs = 100;
  await using cli = start(scene, '--save-every', '700ms');
  let isOver = false;
  const done = cli.done.finally(() => {
    isOver = true;
  });
  const rows: number[] = [];
  for (; !isOver; await wait(300)) {
    const args = ['query', 'SELECT count(*) AS n FROM document_exports'];
    const { code, stdout } = await runProcess(args, { env });
    if (code === 0) rows.push(Number(/^\d+/m.exec(stdout.replaceAll(',', ''))?.[0]));
  }
  expect(await done).toMatchObject({ code: 0 });
  const meanwhile = new Set(rows.filter(count => count > 0 && count < 6_000));
  expect(meanwhile.size).toBeGreaterThan(0);
  expect(rows).toEqual(rows.toSorted((a, b) => a - b));
  service.options.latencyMs = 0;
  expect(differenceOf(scene)).toEqual({ missing: 0, extra: 0 });
  expect(endsOf(scene).length).toBeGreaterThan(1);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});
