import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, test } from 'vitest';
import { FakeClock, hasFakeClock } from '../support/fake-clock.ts';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

// The real program, whose clock is set from tick to tick in nights of 2027 in which clocks are changed.

/** Longer than a watch waits until it looks at the clock again. */
const lookMs = 7_000;

type Night = readonly [what: string, zone: string, schedule: string, ticks: readonly string[]];

const nights: readonly Night[] = [
  [
    'at the end of the hour that is left out in Berlin',
    'Europe/Berlin',
    '30 2 * * *',
    ['2027-03-27T01:30:00Z', '2027-03-28T01:00:00Z', '2027-03-29T00:30:00Z'],
  ],
  [
    'once in the hour that comes twice in Berlin',
    'Europe/Berlin',
    '0 2 * * *',
    ['2027-10-30T00:00:00Z', '2027-10-31T00:00:00Z', '2027-11-01T01:00:00Z'],
  ],
  [
    'once, and not again later in that hour, in Berlin',
    'Europe/Berlin',
    '50 2 * * *',
    ['2027-10-30T00:50:00Z', '2027-10-31T00:50:00Z', '2027-11-01T01:50:00Z'],
  ],
  [
    'in each real hour in Berlin if it is hourly',
    'Europe/Berlin',
    '0 * * * *',
    ['2027-10-30T23:00:00Z', '2027-10-31T00:00:00Z', '2027-10-31T01:00:00Z', '2027-10-31T02:00:00Z'],
  ],
  [
    'at the end of the hour that is left out in New York',
    'America/New_York',
    '30 2 * * *',
    ['2027-03-13T07:30:00Z', '2027-03-14T07:00:00Z', '2027-03-15T06:30:00Z'],
  ],
  [
    'at the end of the half hour that is left out on Lord Howe',
    'Australia/Lord_Howe',
    '15 2 * * *',
    ['2027-10-01T15:45:00Z', '2027-10-02T15:30:00Z', '2027-10-03T15:15:00Z'],
  ],
  [
    'once in the half hour that comes twice on Lord Howe',
    'Australia/Lord_Howe',
    '45 1 * * *',
    ['2027-04-02T14:45:00Z', '2027-04-03T14:45:00Z', '2027-04-04T15:15:00Z'],
  ],
];

describe.skipIf(!hasFakeClock)(`watch${hasFakeClock ? '' : ' (skipped: faketime is not installed)'}`, () => {
  for (const [what, zone, schedule, times] of nights)
    test.concurrent(`runs ${what}`, async ({ expect }) => {
      await using scene = await setScene({}, { exports: 3 });
      const clock = new FakeClock(scene.folder);
      const ticks = times.map(time => Date.parse(time));
      clock.set((ticks[0] ?? 0) - 60_000);
      // The zone is that of TZ if no other is set.
      const env = { ...scene.env, ...clock.env, TZ: zone };
      await using running = spawnCli(['watch', '--schedule', schedule], { env, timeoutMs: 150_000 });
      const note = `${scene.database}.watch`;
      const nextMs = () =>
        existsSync(note) ? Date.parse(JSON.parse(readFileSync(note, 'utf8')).nextRunAt) : null;
      const begun = () =>
        existsSync(scene.database)
          ? sqlite(scene.database, 'SELECT started_at FROM sync_runs WHERE completed_at IS NOT NULL')
          : [];
      for (const [at, tick] of ticks.entries()) {
        await expect.poll(nextMs, { timeout: 30_000 }).toBe(tick);
        // A wrong tick before that would be over then, and would begin a run at once.
        clock.set(tick - lookMs);
        await expect.poll(() => begun().length, { timeout: 30_000 }).toBe(at + 1);
        // It looks at the clock again, which is in an hour that comes again if the night has one.
        clock.set(tick + 20 * 60_000);
        await wait(lookMs);
      }
      running.child.kill('SIGTERM');
      expect((await running.done).code).toBe(143);
      const late = begun().map(({ started_at }, at) => Date.parse(String(started_at)) - (ticks[at] ?? 0));
      expect(late).toHaveLength(ticks.length);
      for (const ms of late) expect(ms).toSatisfy((each: number) => each >= 0 && each < 4_000);
    }, 150_000);
});
