import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { FakeClock, hasFakeClock } from '../support/fake-clock.ts';
import { type RunningCli, spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

const everySecond = '* * * * * *';
/** `WATCH_RUNS=20` watches as many runs, by hand. */
const runsWatched = Number(process.env.WATCH_RUNS ?? 2);

function watch(scene: Scene, ...args: string[]): RunningCli & { logged(): Promise<LogLine[]> } {
  const running = spawnCli(['watch', '--schedule', everySecond, ...args], {
    env: { ...scene.env, DOCMIRROR_LOG_LEVEL: 'info' },
  });
  return Object.assign(running, { logged: async () => linesOf((await running.done).stderr) });
}

interface LogLine {
  readonly msg: string;
  readonly nextRunAt?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

function linesOf(stderr: string): LogLine[] {
  return stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as LogLine);
}

interface RunTimes {
  readonly status: string;
  readonly trigger: string;
  readonly started_at: string;
  readonly completed_at: string | null;
}

function runsOf(database: string): RunTimes[] {
  if (!existsSync(database)) return [];
  // The first run makes the file before it makes the tables.
  if (sqlite(database, "SELECT 1 FROM sqlite_schema WHERE name = 'sync_runs'").length === 0) return [];
  return sqlite(
    database,
    'SELECT status, "trigger", started_at, completed_at FROM sync_runs ORDER BY id',
  ) as unknown as RunTimes[];
}

async function until(condition: () => boolean, what: string, timeoutMs = 15_000): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`${what} did not come within ${timeoutMs} ms.`);
    await wait(20);
  }
}

describe.concurrent('docmirror watch', () => {
  test('never runs twice at once, says which ticks it skipped, and ends during a run with 143', async () => {
    // Three lists, a request each: a run takes 1.8 s, and ticks come every second.
    await using scene = await setScene({ latencyMs: 600 }, { exports: 20 });
    await using running = watch(scene);
    const ended = () => runsOf(scene.database).filter(({ completed_at }) => completed_at !== null).length;
    await until(() => ended() >= runsWatched, `the end of run ${runsWatched}`, 15_000 * runsWatched);
    const requestsBefore = scene.service.requests.length;
    await until(() => scene.service.requests.length > requestsBefore, 'another request');
    const stoppedAtMs = performance.now();
    running.child.kill('SIGTERM');
    const { code } = await running.done;
    expect(performance.now() - stoppedAtMs).toBeLessThan(3_000);
    expect(code).toBe(143);

    const runs = runsOf(scene.database);
    expect(runs.at(-1)?.status).toBe('cancelled');
    expect(new Set(runs.slice(0, -1).map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(new Set(runs.map(({ trigger }) => trigger))).toEqual(new Set(['schedule']));
    runs.slice(1).forEach((run, at) => {
      expect(run.started_at >= (runs[at]?.completed_at ?? '')).toBe(true);
    });
    const messages = (await running.logged()).map(({ msg }) => msg);
    const skipped = messages.filter(msg => msg.startsWith('tick skipped'));
    expect(skipped.length).toBeGreaterThanOrEqual(runsWatched);
    expect(existsSync(`${scene.database}.watch`)).toBe(false);
  });

  test('runs at once with --run-now, shows status when the next run is due, and ends on SIGINT with 130', async () => {
    await using scene = await setScene();
    await using running = spawnCli(
      ['watch', '--run-now', '--schedule', '0 4 * * *', '--timezone', 'Asia/Kathmandu'],
      { env: { ...scene.env, DOCMIRROR_LOG_LEVEL: 'info' } },
    );
    await until(() => runsOf(scene.database)[0]?.status === 'completed', 'a run');
    const { nextRunAt } = JSON.parse((await scene.run('status', '--json')).stdout);
    // Four in the morning in Kathmandu.
    expect(nextRunAt).toMatch(/T22:15:00\.000Z$/);
    const status = await scene.run('status');
    expect(status.stdout).toContain('(watch, "0 4 * * *" in Asia/Kathmandu)');
    running.child.kill('SIGINT');
    expect((await running.done).code).toBe(130);
    expect(runsOf(scene.database).map(({ trigger }) => trigger)).toEqual(['schedule']);
    const logged = linesOf((await running.done).stderr);
    expect(logged.some(line => line.nextRunAt === nextRunAt)).toBe(true);
  });

  test('says of a watch that was killed that its run is overdue', async () => {
    await using scene = await setScene();
    await scene.sync();
    const note = { schedule: '0 * * * *', timezone: 'UTC', nextRunAt: '2024-01-01T00:00:00.000Z' };
    writeFileSync(`${scene.database}.watch`, JSON.stringify(note));
    const { stdout, code } = await scene.run('status');
    expect(code).toBe(0);
    expect(stdout).toContain('was due at 2024-01-01 00:00:00Z');
    expect(stdout).toContain('the watch seems to have died');
    writeFileSync(`${scene.database}.watch`, 'not a note');
    expect((await scene.run('status')).stdout).not.toContain('due');
  });

  test('tries again 5 minutes after a failed run, and says when', async () => {
    await using scene = await setScene();
    scene.service.options.status = { webhooks: 500, collections: 500, 'document-exports': 500 };
    // Five minutes pass in a second and a half.
    const hurry = join(scene.folder, 'hurry.mjs');
    writeFileSync(
      hurry,
      'const wait = globalThis.setTimeout; globalThis.setTimeout = (f, ms, ...a) => wait(f, ms === 300_000 ? 1_500 : ms, ...a);',
    );
    const args = ['watch', '--run-now', '--schedule', '0 0 1 1 *', '--give-up-after', '0'];
    await using running = spawnCli(args, {
      env: { ...scene.env, DOCMIRROR_LOG_LEVEL: 'info', NODE_OPTIONS: `--import=${hurry}` },
    });
    const next = async () =>
      Date.parse(JSON.parse((await scene.run('status', '--json')).stdout).nextRunAt) - Date.now();
    await until(() => runsOf(scene.database)[0]?.status === 'failed', 'a failed run');
    await wait(200);
    const nextMs = await next();
    expect(nextMs).toBeGreaterThan(290_000);
    expect(nextMs).toBeLessThanOrEqual(300_000);
    await until(() => runsOf(scene.database).filter(({ status }) => status === 'failed').length === 2, 'two');
    scene.service.options.status = {};
    await until(() => runsOf(scene.database).at(-1)?.status === 'completed', 'a completed run');
    const ran = runsOf(scene.database).length;
    await wait(2_500);
    expect(runsOf(scene.database)).toHaveLength(ran);
    expect(await next()).toBeGreaterThan(300_000);
    running.child.kill('SIGTERM');
    expect((await running.done).code).toBe(143);
  });

  test('does not try again if a person has to decide', async () => {
    await using scene = await setScene();
    await scene.sync();
    const database = new Database(scene.database);
    database.exec("UPDATE webhooks SET description = 'altered'");
    database.close();
    await using running = spawnCli(['watch', '--run-now', '--schedule', '0 0 1 1 *'], {
      env: { ...scene.env, DOCMIRROR_LOG_LEVEL: 'info' },
    });
    await wait(3_000);
    running.child.kill('SIGTERM');
    const logged = linesOf((await running.done).stderr);
    expect(logged.map(({ error }) => error?.code)).toContain('mirror_altered');
    expect(new Set(logged.map(({ nextRunAt }) => nextRunAt).filter(Boolean))).toHaveProperty('size', 1);
  });

  test('answers the status without a token', async () => {
    await using scene = await setScene();
    await using running = watch(scene, '--http', '127.0.0.1:0', '--max-age', '1h', '--schedule', '0 0 1 1 *');
    const [first] = await once(running.child.stdout as NonNullable<typeof running.child.stdout>, 'data');
    const url = /^docmirror watch answers at (\S+)\n$/.exec(String(first))?.[1] ?? '';
    const health = await fetch(`${url}/healthz`);
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({
      status: 'stale',
      lists: [{ resource: 'document-exports', lastCompletedAt: null, ageSeconds: null }, {}, {}],
    });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    await scene.sync();
    await wait(1_100);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^docmirror_watch_next_run_timestamp_seconds \d{10}/m);
    expect(metrics).toContain('docmirror_runs_total{status="completed",trigger="manual"} 1');
    expect((await fetch(`${url}/v2/webhooks`)).status).toBe(404);
    expect((await fetch(`${url}/`)).status).toBe(404);
    rmSync(scene.database);
    writeFileSync(scene.database, 'no mirror');
    await wait(1_100);
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'unreadable' });
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^docmirror_mirror_readable 0$/m);
    running.child.kill('SIGTERM');
    expect((await running.done).code).toBe(143);
  });
});

test('a mirror that is lost under a watch is told at /healthz and in the log, and its share stays', async () => {
  await using scene = await setScene();
  const share = join(scene.folder, 'share.sqlite');
  await scene.sync('--share', share);
  const before = readFileSync(share);
  const every5s = ['--schedule', '*/5 * * * * *', '--http', '127.0.0.1:0'];
  await using running = watch(scene, ...every5s, '--share', share);
  const [first] = await once(running.child.stdout as NonNullable<typeof running.child.stdout>, 'data');
  const health = `${String(first).trim().split(' ').at(-1)}/healthz`;
  rmSync(scene.database);
  expect((await fetch(health)).status).toBe(503);
  await until(() => runsOf(scene.database)[0]?.completed_at != null, 'a run');
  expect((await fetch(health)).status).toBe(200);
  // The share follows the run, and a signal would end that.
  await wait(2_000);
  running.child.kill('SIGTERM');
  const message = expect.stringMatching(/restore it with "docmirror backup --restore"/);
  const lost = { code: 'share_of_another_mirror', message };
  expect(await running.logged()).toContainEqual(expect.objectContaining({ path: share, error: lost }));
  expect(readFileSync(share).equals(before)).toBe(true);
});

describe.skipIf(!hasFakeClock)('a watch whose clock jumps (skipped without libfaketime)', () => {
  test.each([3600, -3600])(
    'by %i s for 10 s goes on running every 5 s',
    async jump => {
      await using scene = await setScene();
      const clock = new FakeClock(scene.folder);
      await using running = spawnCli(['watch', '--schedule', '*/5 * * * * *'], {
        env: { ...scene.env, ...clock.env },
        timeoutMs: 120_000,
      });
      const count = () => runsOf(scene.database).filter(({ completed_at }) => completed_at !== null).length;
      await until(() => count() >= 1, 'the first run', 30_000);
      clock.ahead(jump);
      await wait(10_000);
      const during = count();
      expect(during).toBeGreaterThanOrEqual(2);
      clock.ahead(0);
      await until(() => count() >= during + 2, 'two runs after the jump', 30_000);
      running.child.kill('SIGTERM');
      expect((await running.done).code).toBe(143);
    },
    120_000,
  );
});
