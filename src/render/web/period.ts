import type { ReportPeriod, Span } from '../../store/read/report-data.ts';
import { type Html, html } from './html.ts';

type Unit = ReportPeriod['unit'];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Periods up to this length are shown by the unit; longer ones by the month. */
const lengthsMaxMs: readonly (readonly [Unit, number])[] = [
  ['hour', 49 * hourMs],
  ['day', 184 * dayMs],
];
/** No clock is put forward by more, in milliseconds. */
const shiftMsMax = 2 * hourMs;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The clocks of a time zone. All moments are in milliseconds since 1970. */
export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;

  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** What clocks show at a moment, as the moment at which clocks in UTC show that. */
  shown(ms: number): number {
    const [, sign, hours, minutes] = /GMT([+-])(\d+):(\d+)/.exec(this.#format.format(ms)) ?? [];
    const offsetMs = Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * 60_000;
    return sign === '-' ? ms - offsetMs : ms + offsetMs;
  }

  /** The moment at which clocks show this; if none does because they are put forward, the same time after that. */
  moment(shownMs: number): number {
    const [early = 0, late = 0] = [-dayMs, dayMs].map(
      by => shownMs - (this.shown(shownMs + by) - shownMs - by),
    );
    return this.shown(early) !== shownMs && this.shown(late) === shownMs ? late : early;
  }

  /** The begin of the unit that contains a moment, or of one `later` units after it. */
  begin(unit: Unit, ms: number, later = 0): number {
    const shown = this.shown(ms);
    // When clocks go back, the repeated hour counts as two.
    if (unit === 'hour') return ms - (((shown % hourMs) + hourMs) % hourMs) + later * hourMs;
    const at = new Date(shown);
    at.setUTCHours(0, 0, 0, 0);
    if (unit === 'day') at.setUTCDate(at.getUTCDate() + later);
    else at.setUTCMonth(at.getUTCMonth() + later, 1);
    return this.moment(at.getTime());
  }

  /** `20 Nov 2026`. */
  day(ms: number): string {
    const at = new Date(this.shown(ms));
    return `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
  }

  /** `20 Nov 2026 09:05`. */
  dayAndTime(ms: number): string {
    return `${this.day(ms)} ${this.#time(ms)}`;
  }

  /** The same, also for programs. */
  time(iso: string): Html {
    return html`<time datetime="${iso}">${this.dayAndTime(Date.parse(iso))}</time>`;
  }

  /** `1 Nov 2026 to 30 Nov 2026`, both days included; with times if it does not consist of whole days. */
  span({ fromMs, toMs }: Span): string {
    if ([fromMs, toMs].some(ms => this.#time(ms) !== '00:00'))
      return `${this.dayAndTime(fromMs)} to ${this.dayAndTime(toMs)}`;
    const [first, last] = [this.day(fromMs), this.day(toMs - 1)];
    return first === last ? first : `${first} to ${last}`;
  }

  /** A stretch among others, and by itself: `20 Nov`, `20 Nov 2026`; `09:00`, `20 Nov 2026 09:00`; `Nov 2026`, `Nov 2026`. */
  stretch({ fromMs }: Span, unit: Unit): readonly [short: string, long: string] {
    const day = this.day(fromMs);
    if (unit === 'hour') return [this.#time(fromMs), this.dayAndTime(fromMs)];
    const month = day.replace(/^\d+ /, '');
    return unit === 'month' ? [month, month] : [day.replace(/ \d+$/, ''), day];
  }

  #time(ms: number): string {
    return new Date(this.shown(ms)).toISOString().slice(11, 16);
  }
}

/** The period that is asked for. */
interface AskedPeriod {
  /** The end, in milliseconds since 1970. */
  readonly untilMs: number;
  /** The begin, or the length before the end. */
  readonly since: { readonly ms: number } | { readonly lengthMs: number };
  readonly nowMs: number;
}

/** The last 30 days. */
export const usualLengthMs = 30 * dayMs;

/**
 * The period that a report is about, and the one before it. It begins and ends with a whole day or, if it is of two days at most, a
 * whole hour.
 */
export function reportPeriod(zone: Zone, { untilMs, since, nowMs }: AskedPeriod): ReportPeriod {
  const lengthMs = 'ms' in since ? untilMs - since.ms : since.lengthMs;
  const unit = lengthsMaxMs.find(([, most]) => lengthMs <= most)?.[0] ?? 'month';
  const edge = unit === 'hour' ? 'hour' : 'day';
  const toMs = zone.begin(edge, untilMs - 1, 1);
  // A length is counted in days of the calendar, even if one of them is an hour shorter.
  const sinceMs = 'ms' in since ? since.ms : toMs - lengthMs + (edge === 'day' ? shiftMsMax : 0);
  const fromMs = zone.begin(edge, sinceMs);
  const beforeMs = beginBefore(zone, fromMs, toMs);
  return {
    timezone: zone.name,
    unit,
    span: { fromMs, toMs },
    spanBefore: { fromMs: beforeMs, toMs: fromMs },
    stretches: stretches(zone, unit, fromMs, toMs),
    stretchesBefore: stretches(zone, unit, beforeMs, fromMs),
    nowMs,
  };
}

/** The begin of the period before: as many hours or days earlier, or months if both ends begin a month. */
function beginBefore(zone: Zone, fromMs: number, toMs: number): number {
  const isOf = (unit: Unit) => [fromMs, toMs].every(ms => ms === zone.begin(unit, ms));
  if (!isOf('day')) return fromMs - (toMs - fromMs);
  if (!isOf('month')) return zone.begin('day', fromMs, -Math.round((toMs - fromMs) / dayMs));
  return zone.begin('month', fromMs, -stretches(zone, 'month', fromMs, toMs).length);
}

/** The units between two moments. The first and the last can be cut by them. */
function stretches(zone: Zone, unit: Unit, fromMs: number, toMs: number): Span[] {
  const all: Span[] = [];
  for (let at = fromMs; at < toMs; ) {
    const next = Math.min(toMs, zone.begin(unit, at, 1));
    all.push({ fromMs: at, toMs: next });
    at = next;
  }
  return all;
}
