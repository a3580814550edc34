import { createTask, parse } from 'node-cron';
import { attempt, UsageError } from '../errors.ts';

/** No clock is changed by more than this, in milliseconds. */
const changeMsMax = 3 * 3_600_000;
/** Two changes of a clock are farther apart than this, in milliseconds. */
const stepMs = 12 * 3_600_000;
/** A schedule whose next day is farther away never comes: 29 February can be eight years away. */
const daysMax = 9 * 366;
const dayMs = 24 * 3_600_000;
/** Ticks that are left out in one hour that comes again: one each second. */
const roundsMax = 20_000;

/**
 * The ticks of a cron expression by the clock of a zone: the first one after a moment, both in milliseconds since 1970. A tick in an hour that
 * a night leaves out is at the end of that hour. In an hour that comes twice a tick comes the first time, and an hourly one both times.
 * Throws a UsageError if the expression can't be used, or never comes.
 */
export function ticksOf(schedule: string, timezone: string): (afterMs: number) => number {
  const { nextAfter, isHourly } = clockTimesOf(schedule);
  const offsetAt = offsetsOf(timezone);
  /** Whether the clock showed the same time before. */
  const isAgain = (ms: number) => {
    const [offset, before] = [offsetAt(ms), offsetAt(ms - changeMsMax)];
    return before > offset && offsetAt(ms - (before - offset)) === before;
  };
  return afterMs => {
    let from = afterMs;
    for (let round = 0; round < roundsMax; round++) {
      const offset = offsetAt(from);
      const time = nextAfter(from + offset);
      const change = changeIn(offsetAt, from, time - offset);
      if (change === null) {
        from = time - offset;
        if (isHourly || !isAgain(from)) return from;
        continue;
      }
      const by = offsetAt(change) - offset;
      const isLeftOut = time < change + offset + by;
      // Otherwise an hourly tick comes at the same moment, by the new clock.
      if (isLeftOut && !(isHourly && nextAfter(time + by - 1) === time + by)) return change;
      from = change - 1;
      const atChange = nextAfter(change + offset + by - 1) === change + offset + by;
      if (atChange && (isHourly || !isAgain(change))) return change;
      from = change;
    }
    throw never(schedule);
  };
}

const never = (schedule: string) => refusal(`${JSON.stringify(schedule)} has no time that ever comes.`);
const refusal = (why: string) => new UsageError(`DOCMIRROR_SCHEDULE (--schedule): ${why}`);

/** The times of a clock that a cron expression names, in milliseconds as if the clock were UTC; `isHourly` if it names every hour. */
function clockTimesOf(schedule: string) {
  const ascending = (numbers: readonly number[]) => [...new Set(numbers)].sort((a, b) => a - b);
  const { task, fields } = read(schedule);
  const [hours, minutes, seconds] = [fields.hour, fields.minute, fields.second].map(ascending);
  const times = (hours ?? []).flatMap(hour =>
    (minutes ?? []).flatMap(minute =>
      (seconds ?? []).map(second => ((hour * 60 + minute) * 60 + second) * 1_000),
    ),
  );
  const first = times[0] ?? 0;
  const nextAfter = (ms: number) => {
    const today = Math.floor(ms / dayMs) * dayMs;
    for (let day = today; day < today + daysMax * dayMs; day += dayMs) {
      if (!task.match(new Date(day + first))) continue;
      const time = times.find(each => day + each > ms);
      if (time !== undefined) return day + time;
    }
    throw never(schedule);
  };
  return { nextAfter, isHourly: hours?.length === 24 };
}

function read(schedule: string) {
  try {
    return { task: createTask(schedule, () => undefined, { timezone: 'UTC' }), fields: parse(schedule) };
  } catch (error) {
    throw refusal((error as Error).message);
  }
}

/** The first moment between two at which a clock is changed; null if it is not. */
function changeIn(offsetAt: (ms: number) => number, fromMs: number, toMs: number): number | null {
  const before = offsetAt(fromMs);
  for (let at = fromMs; at < toMs; at += stepMs) {
    let [low, high] = [at, Math.min(at + stepMs, toMs)];
    if (offsetAt(high) === before) continue;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }
  return null;
}

/** How far a zone's clock is ahead of UTC at a moment, in milliseconds. */
function offsetsOf(timezone: string): (ms: number) => number {
  if (timezone === 'UTC') return () => 0;
  const numeric = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, hourCycle: 'h23', ...numeric });
  return ms => {
    const whole = Math.floor(ms / 1_000) * 1_000;
    const parts = format.formatToParts(whole);
    const part = (type: string) => Number(parts.find(each => each.type === type)?.value);
    const clock = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    );
    return clock - whole;
  };
}

/** The zone of the schedule: the one that is set, else that of the machine's `TZ` if it names one, else UTC. `isKnown` is false for the last. */
export function zoneOf(timezone: string | null, tz: string | undefined) {
  if (timezone !== null) return { timezone, from: 'DOCMIRROR_TIMEZONE', isKnown: true };
  const name = tz?.trim().replace(/^:/, '') ?? '';
  // A rule of POSIX, such as CET-1CEST, is no name.
  const isName = name !== '' && /^[A-Za-z][\w+/-]*$/.test(name);
  const isZone = isName && attempt(() => new Intl.DateTimeFormat('en', { timeZone: name })) !== null;
  return isZone
    ? { timezone: name, from: 'TZ', isKnown: true }
    : { timezone: 'UTC', from: 'neither DOCMIRROR_TIMEZONE nor TZ', isKnown: false };
}
