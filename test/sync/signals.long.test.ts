import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { amidApply, syncScene } from '../support/in-process.ts';
import { expectExactMirror, expectSound, listed, mirrored } from '../support/oracle.ts';
import { type CliResult, type RunningCli, spawnCli, sqlite } from '../support/run-cli.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { documentExport, type RecordedRequest, type StandIn } from '../support/stand-in.ts';

const resource = 'document-exports';
const signals: [signal: 'SIGHUP' | 'SIGINT' | 'SIGTERM', code: number][] = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
];

const startSync = (scene: Scene, ...args: string[]) =>
  spawnCli(['sync', '--json', '--resource', resource, ...args], { env: scene.env });

/** Waits until the service has been asked so, or the process has ended. */
async function asked(service: StandIn, cli: RunningCli, isIt: (request: RecordedRequest) => boolean) {
  await Promise.race([
    cli.done,
    new Promise<void>(resolve => {
      service.onRequest = request => {
        if (isIt(request)) resolve();
      };
    }),
  ]);
  service.onRequest = undefined;
}

/** Delays the answer to the nth page of the document exports until the returned function is called. */
function holdBack(service: StandIn, pageNo: number): { reached: Promise<void>; release: () => void } {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  service.onRequest = async request => {
    if (request.resource !== resource || request.pageNo !== pageNo) return;
    reached.resolve();
    await released.promise;
  };
  return { reached: reached.promise, release: released.resolve };
}

/** Ends a process by a signal and returns how it ended, with how long that took. */
async function end(cli: RunningCli, signal: NodeJS.Signals): Promise<CliResult & { tookMs: number }> {
  const startedAt = performance.now();
  cli.child.kill(signal);
  const result = await cli.done;
  return { ...result, tookMs: performance.now() - startedAt };
}

function lastRun(scene: Scene): Record<string, unknown> {
  const sql =
    'SELECT status, error_code AS error, completed_at IS NOT NULL AS ended FROM sync_runs ORDER BY id DESC';
  return sqlite(scene.database, sql)[0] ?? {};
}

const pagesAsked = ({ requests }: StandIn) =>
  requests.filter(({ resource: name }) => name === resource).length;

describe.concurrent('a signal', () => {
  test.each(signals)(
    '%s during a walk ends the run within 2 s with %i, recorded as cancelled, and the next run is exact',
    async (signal, code) => {
      await using scene = await setScene({ maxPageSize: 10, latencyMs: 40 }, { exports: 400 });
      await using cli = startSync(scene);
      await asked(scene.service, cli, ({ pageNo }) => pageNo === 30);
      const ended = await end(cli, signal);
      expect(ended).toMatchObject({ code, signal: null });
      expect(ended.tookMs).toBeLessThan(2_000);
      expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
      expect(lastRun(scene)).toEqual({ status: 'cancelled', error: 'cancelled', ended: 1 });
      expect(ended.stderr).not.toMatch(/^\s+at /m);
      scene.service.requests = [];
      scene.service.options.latencyMs = 0;
      expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
      expectExactMirror(scene.database, scene.service);
    },
  );

  test('ends a run that waits for an answer that does not come', async () => {
    await using scene = await setScene({ latencyMs: 30_000 });
    await using cli = startSync(scene);
    await asked(scene.service, cli, () => true);
    const ended = await end(cli, 'SIGTERM');
    expect(ended.code).toBe(143);
    expect(ended.tookMs).toBeLessThan(2_000);
    expect(lastRun(scene)).toMatchObject({ status: 'cancelled' });
  });

  test('during the writing of 60,000 records ends the run within 2 s, and none of them is there', async () => {
    await using scene = await setScene({ maxPageSize: 1_000 }, { exports: 10 });
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    const before = mirrored(scene.database, resource);
    scene.service.lists[resource].push(...make(60_000, n => documentExport(100 + n)));
    await using cli = startSync(scene);
    await asked(scene.service, cli, ({ pageNo }) => pageNo === 30);
    await amidApply(scene.database, cli.done);
    const ended = await end(cli, 'SIGTERM');
    expect(ended.code).toBe(143);
    expect(ended.tookMs).toBeLessThan(2_000);
    expect(mirrored(scene.database, resource)).toEqual(before);
    expect(lastRun(scene)).toMatchObject({ status: 'cancelled' });
    expectSound(scene.database);
    scene.service.requests = [];
    const next = await syncScene(scene, { resources: [resource] });
    expect(next).toMatchObject({ code: 0 });
    expect(next.of(resource)).toMatchObject({ inserted: 60_000 });
    // It begins again: 61 pages that overlap, and the end.
    expect(pagesAsked(scene.service)).toBeLessThan(70);
  });

  test('that comes again at once, as from timeout or a terminal with npm, is one: the file is left whole', async () => {
    await using scene = await setScene({ maxPageSize: 10, latencyMs: 40 }, { exports: 400 });
    await using cli = spawnCli(['watch', '--run-now', '--schedule', '0 0 1 1 *'], { env: scene.env });
    await asked(scene.service, cli, ({ pageNo }) => pageNo === 30);
    for (let more = 0; more < 20; more++) {
      cli.child.kill('SIGTERM');
      await wait(2);
    }
    const { code, signal } = await cli.done;
    // One that comes when Node.js is about to end the process, and all is done, ends it.
    expect([143, 'SIGTERM']).toContain(code ?? signal);
    expect(readdirSync(scene.folder).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
    expect(lastRun(scene)).toEqual({ status: 'cancelled', error: 'cancelled', ended: 1 });
  });

  test('between two lists leaves the lists that were applied, and keeps what came of the other one', async () => {
    await using scene = await setScene({ maxPageSize: 10, latencyMs: 20 }, { collections: 25 });
    await using cli = spawnCli(['sync', '--json'], { env: scene.env });
    await asked(scene.service, cli, request => request.resource === resource && request.pageNo === 3);
    const ended = await end(cli, 'SIGINT');
    expect(ended.code).toBe(130);
    const summary = JSON.parse(ended.stdout) as { resources: { resource: string; status: string }[] };
    expect(summary.resources.map(({ resource: name, status }) => [name, status])).toEqual([
      [resource, 'cancelled'],
      ['collections', 'completed'],
      ['webhooks', 'completed'],
    ]);
    expectExactMirror(scene.database, scene.service, ['collections', 'webhooks']);
    // What came before the signal is there.
    const records = listed(scene.service.lists[resource], resource);
    const rows = mirrored(scene.database, resource);
    expect(rows.length).toBeGreaterThanOrEqual(10);
    expect(records).toEqual(expect.arrayContaining(rows));
  });
});

describe.concurrent('one run at a time:', () => {
  test('a second sync exits 11 at once, names the run in its way and its start, and harms nothing', async () => {
    await using scene = await setScene({ maxPageSize: 10 });
    const held = holdBack(scene.service, 5);
    await using first = startSync(scene);
    await held.reached;
    const startedAt = performance.now();
    const second = await scene.run('sync');
    expect(second.code).toBe(11);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(second.stdout).toBe('');
    expect(second.stderr).toMatch(
      /^docmirror: Run 1 has been using .*mirror\.sqlite since \d{4}-\d\d-\d\dT[\d:.]+Z\. Wait until it is done, or stop it\. \[mirror_busy\]\n$/,
    );
    const dry = await scene.run('sync', '--dry-run');
    expect(dry.code).toBe(11);
    held.release();
    expect(await first.done).toMatchObject({ code: 0 });
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
    expect(sqlite(scene.database, 'SELECT count(*) AS n FROM sync_runs')).toEqual([{ n: 2 }]);
  });

  test('of many that start at the same moment over no mirror yet, one runs and the others exit 11', async () => {
    await using scene = await setScene({ latencyMs: 400 });
    const codes = (await Promise.all(make(5, () => scene.sync()))).map(({ code }) => code);
    expect(codes.filter(code => code === 0).length).toBeGreaterThan(0);
    expect(
      codes.every(code => code === 0 || code === 11),
      String(codes),
    ).toBe(true);
    expectExactMirror(scene.database, scene.service);
  });
});
