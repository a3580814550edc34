import { expect, test } from 'vitest';
import { ticksOf, zoneOf } from '../../src/commands/schedule.ts';
import { casesOf } from '../support/cases.ts';

const hourMs = 3_600_000;
const year = { from: Date.UTC(2027, 0, 1), to: Date.UTC(2028, 0, 1) };

/** What the clock of a zone shows, as the day and the minute of it. */
function clockOf(timeZone: string) {
  const form = { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, ...form });
  return (ms: number) => format.format(ms);
}

const msOf = (shown: string) => Date.parse(`${shown.replace(' ', 'T')}Z`);

/** The moments of 2027 at which the clock of a zone is changed. */
function changesOf(timeZone: string): number[] {
  const clock = clockOf(timeZone);
  const changes: number[] = [];
  for (let at = year.from; at < year.to; at += 12 * hourMs) {
    const ahead = (ms: number) => msOf(clock(ms)) - ms;
    if (ahead(at) === ahead(at + 12 * hourMs)) continue;
    let [low, high] = [at, at + 12 * hourMs];
    while (high - low > 60_000) {
      const middle = Math.floor((low + high) / 120_000) * 60_000;
      if (ahead(middle) === ahead(at)) low = middle;
      else high = middle;
    }
    changes.push(high);
  }
  return changes;
}

function ticksBetween(schedule: string, zone: string, from: number, to: number): number[] {
  const next = ticksOf(schedule, zone);
  const ticks: number[] = [];
  for (let at = next(from - 1); at < to; at = next(at)) ticks.push(at);
  return ticks;
}

const changing = Intl.supportedValuesOf('timeZone').flatMap(zone =>
  changesOf(zone).map(at => ({ zone, at })),
);

test('a daily schedule at each hour comes once in each night in which a clock is changed, in every zone', () => {
  expect(changing.length).toBeGreaterThan(150);
  for (const { zone, at } of casesOf(changing, 3)) {
    const clock = clockOf(zone);
    const day = clock(at - 1).slice(0, 10);
    const [before, after] = [msOf(clock(at - 60_000)) + 60_000, msOf(clock(at))];
    for (let hour = 0; hour < 24; hour++) {
      const wanted = `${day} ${String(hour).padStart(2, '0')}:00`;
      const isLeftOut = msOf(wanted) >= before && msOf(wanted) < after;
      const ticks = ticksBetween(`0 ${hour} * * *`, zone, at - 24 * hourMs, at + 24 * hourMs);
      const ofDay = ticks.filter(tick => (isLeftOut ? tick === at : clock(tick) === wanted));
      expect(ofDay, `${zone}, ${wanted}`).toHaveLength(1);
      const days = ticks.map(tick => (isLeftOut && tick === at ? day : clock(tick).slice(0, 10)));
      expect(ticks.length, `${zone}, ${wanted}, ${days.join()}`).toBe(new Set(days).size);
    }
  }
});

test('an hourly schedule comes in each real hour, in every zone', () => {
  for (const { zone, at } of changing)
    for (const minute of [0, 30]) {
      const ticks = ticksBetween(`${minute} * * * *`, zone, at - 5 * hourMs, at + 5 * hourMs);
      const gaps = ticks.slice(1).map((tick, i) => tick - (ticks[i] ?? 0));
      // Lord Howe's clock is changed by half an hour.
      const isHalf = zone === 'Australia/Lord_Howe';
      for (const gap of gaps)
        expect(gap, `${zone} ${minute}`).toSatisfy(
          isHalf ? (ms: number) => ms <= 1.5 * hourMs : (ms: number) => ms === hourMs,
        );
    }
});

test('ticks outside of such nights are those of the clock', () => {
  const first = (schedule: string, zone = 'UTC') =>
    new Date(ticksOf(schedule, zone)(year.from)).toISOString();
  expect(first('*/15 6-20 * * 1-5', 'Europe/Berlin')).toBe('2027-01-01T05:00:00.000Z');
  expect(first('30 10 3 * * *')).toBe('2027-01-01T03:10:30.000Z');
  expect(first('0 3 29 2 *')).toBe('2028-02-29T03:00:00.000Z');
  expect(first('0 3 1 * 1')).toBe('2027-02-01T03:00:00.000Z');
  expect(first('0 22-4 * * fri-mon', 'America/New_York')).toBe('2027-01-01T05:00:00.000Z');
});

test.each(['0 3 1 * 1#5', '0 3 31 2 *'])('the schedule %j never comes, and is refused', schedule => {
  expect(() => ticksOf(schedule, 'UTC')(year.from)).toThrow(/^DOCMIRROR_SCHEDULE/);
});

test('the zone is the one that is set, else that of TZ if it is a name, else UTC', () => {
  expect(zoneOf('Asia/Tokyo', 'Europe/Berlin')).toMatchObject({ timezone: 'Asia/Tokyo', isKnown: true });
  expect(zoneOf(null, 'Europe/Berlin')).toMatchObject({ timezone: 'Europe/Berlin', from: 'TZ' });
  for (const tz of [
    undefined,
    '',
    'CET-1CEST,M3.5.0,M10.5.0/3',
    '/etc/localtime',
    'Nowhere/At_All',
    '+02:00',
  ])
    expect(zoneOf(null, tz)).toMatchObject({ timezone: 'UTC', isKnown: false });
});
