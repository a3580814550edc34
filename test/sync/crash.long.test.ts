import { once } from 'node:events';
import { copyFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { Random } from '../../examples/sample-service/random.ts';
import { amidApply, syncScene } from '../support/in-process.ts';
import { expectExactMirror, expectSound, listed, mirrored } from '../support/oracle.ts';
import { runProcess, spawnCli, sqlite } from '../support/run-cli.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import {
  collection,
  documentExport,
  type Lists,
  type Resource,
  type StandIn,
  webhook,
} from '../support/stand-in.ts';

const resource = 'document-exports';
const resources: readonly Resource[] = [resource, 'collections', 'webhooks'];

type Snapshot = Record<Resource, string[]>;

/** The lists of the service, in the form of `mirrored`. */
function snapshotOf(lists: Lists): Snapshot {
  return Object.fromEntries(resources.map(name => [name, listed(lists[name], name)])) as Snapshot;
}

/** Changes every list a little: so that a list that is half written is neither as before nor as after. */
function change(service: StandIn, random: () => number, round: number): void {
  const { lists } = service;
  const at = (length: number) => Math.floor(random() * length);
  const n = 1_000 * (round + 1);
  const exports = lists[resource];
  exports.push(...make(1 + at(8), one => documentExport(n + one)));
  exports.splice(at(exports.length), 1 + at(3));
  exports[at(exports.length)] = documentExport(n + 20);
  lists.collections.push(collection(n));
  lists.collections.splice(at(lists.collections.length), 1);
  lists.webhooks.push(webhook(n));
  lists.webhooks[0] = webhook(1, { description: `changed in round ${round}` });
}

/** Starts a sync and kills it so long after its nth request, if there are as many. */
async function syncAndKill(scene: Scene, request: number, afterMs: number, flag = '--full'): Promise<void> {
  await using cli = spawnCli(['sync', flag], { env: scene.env });
  const exit = once(cli.child, 'exit');
  let requests = 0;
  const reached = new Promise<void>(resolve => {
    scene.service.onRequest = () => {
      if (++requests === request) resolve();
    };
  });
  await Promise.race([exit, reached.then(() => wait(afterMs))]);
  cli.child.kill('SIGKILL');
  await exit;
  scene.service.onRequest = undefined;
}

function expectOldOrNew(scene: Scene, before: Snapshot, after: Snapshot): void {
  expectSound(scene.database);
  for (const name of resources) {
    const records = mirrored(scene.database, name);
    const isOld = JSON.stringify(records) === JSON.stringify(before[name]);
    const isNew = JSON.stringify(records) === JSON.stringify(after[name]);
    expect(isOld || isNew, `${name} is neither as before nor as after`).toBe(true);
  }
}

function runsOf(scene: Scene): Record<string, unknown>[] {
  return sqlite(scene.database, 'SELECT id, status FROM sync_runs ORDER BY id');
}

describe.concurrent('a run that is killed', { timeout: 120_000 }, () => {
  test.each([1, 2, 3, 4, 5])(
    'at random moments leaves every list as before or as after, and the next runs make all exact (seed %i)',
    async seed => {
      const chance = new Random(seed);
      const random = () => chance.fraction();
      await using scene = await setScene(
        { maxPageSize: 15, latencyMs: 4 },
        { exports: 150, collections: 40 },
      );
      expect(await syncScene(scene)).toMatchObject({ code: 0 });
      const killed: Record<string, unknown>[] = [];
      for (let round = 0; round < 6; round++) {
        const before = Object.fromEntries(
          resources.map(name => [name, mirrored(scene.database, name)]),
        ) as Snapshot;
        change(scene.service, random, round);
        await syncAndKill(scene, 1 + Math.floor(random() * 32), random() * 25);
        expectOldOrNew(scene, before, snapshotOf(scene.service.lists));
        killed.push(...runsOf(scene).filter(({ status }) => status === 'running'));
      }
      expect(killed.length, 'the kills came too late to show anything').toBeGreaterThan(1);
      // The exports are in no order of their times any more: a removal takes two runs.
      const first = await syncScene(scene);
      expect([0, 3]).toContain(first.code);
      if (first.code === 3) expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
      expectExactMirror(scene.database, scene.service);
      const runs = runsOf(scene);
      expect(runs.map(({ status }) => status)).not.toContain('running');
      for (const { id } of killed) expect(runs).toContainEqual({ id, status: 'interrupted' });
      const openLists = "SELECT count(*) AS n FROM sync_run_resources WHERE status = 'running'";
      expect(sqlite(scene.database, openLists)).toEqual([{ n: 0 }]);
      const again = await syncScene(scene);
      for (const name of resources)
        expect(again.of(name)).toMatchObject({ inserted: 0, updated: 0, removed: 0, rejected: 0 });
    },
  );

  test.each([11, 12, 13])(
    'at random moments of a rebuild leaves a mirror without anything forged, and a rebuild makes it exact (seed %i)',
    async seed => {
      const chance = new Random(seed);
      await using scene = await setScene(
        { maxPageSize: 15, latencyMs: 4 },
        { exports: 150, collections: 40 },
      );
      expect(await syncScene(scene)).toMatchObject({ code: 0 });
      const killed: unknown[] = [];
      for (let round = 0; round < 5; round++) {
        new Database(scene.database)
          .exec(
            `UPDATE document_exports SET source_document_title = 'forged in round ${round}' WHERE id % 3 = 0`,
          )
          .close();
        await syncAndKill(scene, chance.integer(1, 30), chance.fraction() * 25, '--rebuild');
        killed.push(...runsOf(scene).filter(({ status }) => status === 'running'));
        expectSound(scene.database);
        const forged = "SELECT id FROM document_exports WHERE source_document_title LIKE 'forged%'";
        expect(sqlite(scene.database, forged)).toEqual([]);
        const rebuilt = await scene.run('sync', '--rebuild');
        expect(rebuilt.code, rebuilt.stderr).toBe(0);
        expectSound(scene.database);
        expectExactMirror(scene.database, scene.service);
      }
      expect(killed.length, 'the kills came too late to show anything').toBeGreaterThan(1);
    },
  );

  test('in the midst of writing 20,000 records leaves none of them or all, and the next run makes it exact', async () => {
    await using scene = await setScene({ maxPageSize: 1_000 }, { exports: 60 });
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    const { service } = scene;
    service.lists[resource].push(...make(20_000, n => documentExport(1_000 + n)));
    const count = () => sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')[0]?.n;
    const counts: unknown[] = [];
    for (const afterMs of [0, 10, 25]) {
      await using cli = spawnCli(['sync', '--full', '--resource', resource], { env: scene.env });
      await amidApply(scene.database, cli.done);
      await wait(afterMs);
      cli.child.kill('SIGKILL');
      await cli.done;
      counts.push(count());
      expectSound(scene.database);
    }
    expect(counts[0]).toBe(60);
    for (const seen of counts) expect([60, 20_060]).toContain(seen);
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, service);
    expect(runsOf(scene).map(({ status }) => status)).not.toContain('running');
  });
});

describe.concurrent('a reader', () => {
  test('that counts during a run sees the old count or the new one, nothing between, and no error', async () => {
    await using scene = await setScene({ maxPageSize: 500 }, { exports: 500 });
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    scene.service.lists[resource].push(...make(20_000, n => documentExport(1_000 + n)));
    let isOver = false;
    const synced = runProcess(['sync'], { env: scene.env }).finally(() => {
      isOver = true;
    });
    const counts = new Set<unknown>();
    let polls = 0;
    const held = new Database(scene.database, { readonly: true });
    while (!isOver) {
      const sql = 'SELECT count(*) AS n FROM document_exports';
      counts.add(held.prepare(sql).pluck().get());
      // A reader of its own each time, too: one that comes while the writer opens, commits or closes the file.
      counts.add(sqlite(scene.database, sql)[0]?.n);
      polls++;
      await wait(4);
    }
    held.close();
    expect(await synced).toMatchObject({ code: 0 });
    expect(polls).toBeGreaterThan(30);
    expect([...counts].sort()).toEqual([20_500, 500]);
    expectExactMirror(scene.database, scene.service);
  });

  test('that keeps a read transaction open through whole runs neither fails them nor sees them', async () => {
    await using scene = await setScene();
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    const reader = new Database(scene.database, { readonly: true });
    const count = reader.prepare('SELECT count(*) FROM document_exports').pluck();
    reader.exec('BEGIN');
    expect(count.get()).toBe(130);
    for (const n of [501, 502]) {
      scene.service.lists[resource].push(documentExport(n));
      scene.service.lists[resource].shift();
      expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
      expect(count.get()).toBe(130);
    }
    reader.exec('COMMIT');
    expect(count.get()).toBe(130);
    reader.close();
    expectExactMirror(scene.database, scene.service);
  });

  test('finds the whole mirror in the one file when a run is over', async () => {
    await using scene = await setScene();
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    const copy = join(scene.folder, 'copy.sqlite');
    for (const end of ['-wal', '-journal'])
      expect(existsSync(scene.database + end) ? statSync(scene.database + end).size : 0).toBe(0);
    copyFileSync(scene.database, copy);
    expectExactMirror(copy, scene.service);
  });
});
