import type { ReportPeriod, Span } from '../../store/read/report-data.ts';

type Unit = ReportPeriod['unit'];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Periods up to this length are shown by the unit; longer ones by the month. */
const lengthsMaxMs = { hour: 49 * hourMs, day: 89.5 * dayMs, week: 400 * dayMs };

/** How much of a time is shown if it is the begin of a unit: `2026-11-20 09:05`, `2026-11-20`, `2026-11`. */
const textLengths = { hour: 16, day: 10, week: 10, month: 7 } as const;

/** The clocks of a time zone. All moments are in milliseconds since 1970. */
export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;

  constructor(name: string) {
    this.name = name;
    // Sweden writes times as ISO 8601 does: `2026-11-20 09:05:30`.
    this.#format = new Intl.DateTimeFormat('sv', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' });
  }

  /** What clocks show at a moment, as the moment at which clocks in UTC show that. */
  #shown(ms: number): number {
    return Date.parse(`${this.#format.format(ms)}Z`) + (ms % 1000);
  }

  /** How far clocks are ahead of UTC at a moment, in milliseconds. */
  aheadMs(ms: number): number {
    return this.#shown(ms) - ms;
  }

  /** The moments at which clocks show this; if none do because they are put forward, the one at which they are. */
  moments(shownMs: number): number[] {
    const [before = 0, after = 0] = [-dayMs, dayMs].map(by => shownMs - this.aheadMs(shownMs + by));
    const found = [before, after].filter(ms => this.#shown(ms) === shownMs);
    if (found.length > 0) return found;
    let [low, high] = [after, before];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.aheadMs(middle) === this.aheadMs(low)) low = middle;
      else high = middle;
    }
    return [high];
  }

  /** The first of these moments. */
  moment(shownMs: number): number {
    const [first = shownMs] = this.moments(shownMs);
    return first;
  }

  /** The begin of the unit that contains a moment, or of one `later` units after it. */
  begin(unit: Unit, ms: number, later = 0): number {
    const shown = this.#shown(ms);
    // When clocks go back, the repeated hour counts as two.
    if (unit === 'hour') return ms - (shown % hourMs) + later * hourMs;
    const at = new Date(shown);
    at.setUTCHours(0, 0, 0, 0);
    if (unit === 'day') at.setUTCDate(at.getUTCDate() + later);
    // A week begins on Monday.
    else if (unit === 'week') at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7) + 7 * later);
    else at.setUTCMonth(at.getUTCMonth() + later, 1);
    return this.moment(at.getTime());
  }

  /** A moment as clocks show it: `2026-11-20 09:05`, `2026-11-20` for a day, `2026-11` for a month. */
  text(ms: number, unit: Unit = 'hour'): string {
    return this.#format.format(ms).slice(0, textLengths[unit]);
  }

  /** `2026-11-01 to 2026-11-30`, both days included; with times if it does not consist of whole days. */
  spanText({ fromMs, toMs }: Span): string {
    const isWhole = [fromMs, toMs].every(ms => ms === this.begin('day', ms));
    return isWhole
      ? `${this.text(fromMs, 'day')} to ${this.text(toMs - 1, 'day')}`
      : `${this.text(fromMs)} to ${this.text(toMs)}`;
  }
}

/**
 * The period that a report is about, and the one before it, which has as many months, days or hours. It begins and ends with a whole
 * day or, if it is of two days at most, a whole hour.
 *
 * @param isLength true if the begin is a number of whole days or hours before the end.
 */
export function reportPeriod(zone: Zone, sinceMs: number, untilMs: number, isLength: boolean): ReportPeriod {
  const lengthMs = untilMs - sinceMs;
  const unit = (['hour', 'day', 'week'] as const).find(each => lengthMs <= lengthsMaxMs[each]) ?? 'month';
  const [edge, edgeMs] = unit === 'hour' ? (['hour', hourMs] as const) : (['day', dayMs] as const);
  const toMs = zone.begin(edge, untilMs - 1, 1);
  const fromMs = isLength ? zone.begin(edge, toMs, -Math.ceil(lengthMs / edgeMs)) : zone.begin(edge, sinceMs);
  const isOf = (each: Unit) => [fromMs, toMs].every(ms => ms === zone.begin(each, ms));
  const whole = (['month', 'day'] as const).find(isOf) ?? 'hour';
  const beforeMs = zone.begin(whole, fromMs, -stretches(zone, whole, fromMs, toMs).length);
  const shown = stretches(zone, unit, fromMs, toMs);
  // Each week is compared with as many days, so its weeks are cut in the same places.
  const daysBefore = stretches(zone, 'day', beforeMs, fromMs).length;
  const shifted = (ms: number) => Math.min(fromMs, zone.begin('day', ms, -daysBefore));
  const weeksBefore = shown.map(week => ({ fromMs: shifted(week.fromMs), toMs: shifted(week.toMs) }));
  const stretchesBefore = unit === 'week' ? weeksBefore : stretches(zone, unit, beforeMs, fromMs);
  const spans = { span: { fromMs, toMs }, spanBefore: { fromMs: beforeMs, toMs: fromMs } };
  return { unit, ...spans, stretches: shown, stretchesBefore };
}

function stretches(zone: Zone, unit: Unit, fromMs: number, toMs: number): Span[] {
  const all: Span[] = [];
  for (let at = fromMs; at < toMs; ) {
    const next = Math.min(toMs, zone.begin(unit, at, 1));
    all.push({ fromMs: at, toMs: next });
    at = next;
  }
  return all;
}
