import { TZDate } from '@date-fns/tz';
import type { ReportPeriod, Span, Stretch } from '../../store/read/report-period.ts';
import { type Html, html } from './html.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Writes times as the clocks of a zone show them; all moments are in milliseconds since 1970. */
export class Clock {
  readonly timezone: string;

  constructor(timezone: string) {
    this.timezone = timezone;
  }

  /** `20 Nov 2026`. */
  day(ms: number): string {
    const date = new TZDate(ms, this.timezone);
    return `${date.getDate()} ${months[date.getMonth()]} ${date.getFullYear()}`;
  }

  /** `09:05`. */
  time(ms: number): string {
    const date = new TZDate(ms, this.timezone);
    return [date.getHours(), date.getMinutes()].map(part => String(part).padStart(2, '0')).join(':');
  }

  /** `20 Nov 2026 09:05`, also for programs. */
  moment(iso: string): Html {
    const ms = Date.parse(iso);
    const text = Number.isNaN(ms) ? iso : `${this.day(ms)} ${this.time(ms)}`;
    return html`<time datetime=${iso}>${text}</time>`;
  }

  /** `1 Nov 2026 to 30 Nov 2026`, both days included; with times if it does not consist of whole days. */
  span({ fromMs, toMs }: Span): string {
    if ([fromMs, toMs].some(ms => this.time(ms) !== '00:00')) {
      return `${this.day(fromMs)} ${this.time(fromMs)} to ${this.day(toMs)} ${this.time(toMs)}`;
    }
    const [first, last] = [this.day(fromMs), this.day(toMs - 1)];
    return first === last ? first : `${first} to ${last}`;
  }

  /** A stretch by itself: `20 Nov 2026`, `20 Nov 2026 09:00`, `Nov 2026` or `2026`. */
  stretch({ fromMs }: Stretch, unit: ReportPeriod['unit']): string {
    const day = this.day(fromMs);
    if (unit === 'hour') return `${day} ${this.time(fromMs)}`;
    return { day, month: day.replace(/^\d+ /, ''), year: day.slice(-4) }[unit];
  }

  /** A stretch among others: `20 Nov`, `09:00`, `Nov 2026` or `2026`. */
  shortStretch(stretch: Stretch, unit: ReportPeriod['unit']): string {
    if (unit === 'hour') return this.time(stretch.fromMs);
    const name = this.stretch(stretch, unit);
    return unit === 'day' ? name.replace(/ \d+$/, '') : name;
  }
}
