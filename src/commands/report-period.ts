import { TZDate } from '@date-fns/tz';
import { UsageError } from '../errors.ts';
import type { ReportPeriod, Stretch } from '../store/read/report-period.ts';
import { isLength, momentOf } from './flags.ts';

/** The period of a report, as the flags give it. */
interface AskedPeriod {
  /** A moment, or a length that is counted back from the end; the default is the last 30 days. */
  readonly since?: string | undefined;
  /** A moment; the default is now. */
  readonly until?: string | undefined;
  readonly timezone: string;
}

type Unit = ReportPeriod['unit'];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const sinceDefault = '30d';
/** Periods up to this length are shown by the unit; longer ones by the year. */
const lengthsMaxMs: readonly (readonly [Unit, number])[] = [
  ['hour', 49 * hourMs],
  ['day', 184 * dayMs],
  ['month', 3_660 * dayMs],
];
/** No clock is put forward by more, in milliseconds. */
const shiftMsMax = 2 * hourMs;

/**
 * The period that a report is about, and the one before it. It begins and ends with a whole day or, if it is of two days at most, a
 * whole hour.
 *
 * @throws UsageError if a flag is not a moment, or the period would be empty.
 */
export function reportPeriod({ since, until, timezone }: AskedPeriod, nowMs: number): ReportPeriod {
  const zone = new Zone(timezone);
  const asked = since ?? sinceDefault;
  const untilMs = until === undefined ? nowMs : zone.moment('--until', until, nowMs);
  const sinceMs = zone.moment('--since', asked, untilMs);
  if (sinceMs >= untilMs) {
    const than = until === undefined ? 'now' : '--until';
    throw new UsageError(`--since: must be before ${than}, got ${JSON.stringify(asked)}`);
  }
  const unit = lengthsMaxMs.find(([, lengthMsMax]) => untilMs - sinceMs <= lengthMsMax)?.[0] ?? 'year';
  const edge = unit === 'hour' ? 'hour' : 'day';
  const toMs = zone.begin(edge, untilMs - 1, 1);
  // A length is counted in days of the calendar, even if one of them is an hour shorter.
  const fromMs = isLength(asked)
    ? zone.begin(edge, zone.moment('--since', asked, toMs) + (edge === 'day' ? shiftMsMax : 0))
    : zone.begin(edge, sinceMs);
  const beforeMs = zone.beginBefore(fromMs, toMs);
  return {
    timezone,
    unit,
    span: { fromMs, toMs },
    spanBefore: { fromMs: beforeMs, toMs: fromMs },
    stretches: zone.stretches(unit, fromMs, toMs),
    stretchesBefore: zone.stretches(unit, beforeMs, fromMs),
    nowMs,
  };
}

const namesZone = /[T ].*(Z|[+-][\d:]+)\s*$/i;

/** Hours, days, months and years of the local time in a zone. */
class Zone {
  readonly #timezone: string;

  constructor(timezone: string) {
    this.#timezone = timezone;
  }

  /** The moment that a flag gives, in milliseconds since 1970: a length before another moment, or a local time in the zone. */
  moment(flag: string, text: string, beforeMs: number): number {
    const at = new Date(momentOf(flag, text, beforeMs));
    if (isLength(text) || namesZone.test(text)) return at.getTime();
    const day = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()] as const;
    const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), at.getUTCMilliseconds()] as const;
    return +new TZDate(...day, ...time, this.#timezone);
  }

  /** The begin of the unit that contains a moment, or of one `later` units after it, in milliseconds since 1970. */
  begin(unit: Unit, ms: number, later = 0): number {
    const date = new TZDate(ms, this.#timezone);
    const [year, month] = [date.getFullYear(), date.getMonth()];
    switch (unit) {
      case 'hour':
        // Local time is not used here: when clocks go back, the repeated hour counts as two.
        return ms - date.getMinutes() * 60_000 - (((ms % 60_000) + 60_000) % 60_000) + later * hourMs;
      case 'day':
        return +new TZDate(year, month, date.getDate() + later, this.#timezone);
      case 'month':
        return +new TZDate(year, month + later, 1, this.#timezone);
      case 'year':
        return +new TZDate(year + later, 0, 1, this.#timezone);
    }
  }

  /** The begin of the period before: as many hours or days earlier, or months if both ends begin a month. */
  beginBefore(fromMs: number, toMs: number): number {
    const isOfDays = [fromMs, toMs].every(ms => ms === this.begin('day', ms));
    if (!isOfDays) return fromMs - (toMs - fromMs);
    const isOfMonths = [fromMs, toMs].every(ms => ms === this.begin('month', ms));
    if (!isOfMonths) return this.begin('day', fromMs, -Math.round((toMs - fromMs) / dayMs));
    return this.begin('month', fromMs, this.#month(fromMs) - this.#month(toMs));
  }

  #month(ms: number): number {
    const date = new TZDate(ms, this.#timezone);
    return date.getFullYear() * 12 + date.getMonth();
  }

  stretches(unit: Unit, fromMs: number, toMs: number): Stretch[] {
    const stretches: Stretch[] = [];
    for (let at = fromMs; at < toMs; ) {
      const next = this.begin(unit, at, 1);
      stretches.push({
        fromMs: at,
        toMs: Math.min(next, toMs),
        isWhole: at === this.begin(unit, at) && next <= toMs,
      });
      at = next;
    }
    return stretches;
  }
}
