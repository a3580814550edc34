import { createTask, parse } from 'node-cron';
import { attempt, UsageError } from '../errors.ts';
import { Zone } from '../render/web/period.ts';

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
  const zone = new Zone(timezone);
  return afterMs => {
    let time = nextAfter(afterMs + zone.aheadMs(afterMs));
    // If the clock is changed before that, an hourly tick comes at the same moment, by the new clock.
    if (isHourly) time = nextAfter(afterMs + zone.aheadMs(time - zone.aheadMs(afterMs)));
    for (let round = 0; round < roundsMax; round++) {
      const moments = zone.moments(time).slice(0, isHourly ? 2 : 1);
      const next = moments.find(ms => ms > afterMs);
      const by = next === undefined ? 0 : zone.aheadMs(next) - zone.aheadMs(next - 1);
      const isLeftOut = next !== undefined && next + zone.aheadMs(next) !== time;
      const isAlsoLater = isHourly && isLeftOut && nextAfter(time + by - 1) === time + by;
      if (next !== undefined && !isAlsoLater) return next;
      time = nextAfter(time);
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
  const { hour, minute, second } = fields;
  const [hours = [], minutes = [], seconds = []] = [hour, minute, second].map(ascending);
  const inHour = minutes.flatMap(each => seconds.map(part => each * 60 + part));
  const times = hours.flatMap(each => inHour.map(part => (each * 3_600 + part) * 1_000));
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
  return { nextAfter, isHourly: hours.length === 24 };
}

function read(schedule: string) {
  try {
    return { task: createTask(schedule, () => undefined, { timezone: 'UTC' }), fields: parse(schedule) };
  } catch (error) {
    throw refusal((error as Error).message);
  }
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
