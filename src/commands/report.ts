import { named } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import type { Zone } from '../render/web/period.ts';
import { command } from './command.ts';
import { defaulting, isLength, mirrorSettings, momentOf, timeSpan, typed } from './flags.ts';
import { put } from './stream-out.ts';

/** `docmirror report` */
export const report = command({
  flags: {
    since: defaulting(
      typed(
        'TIME',
        'where the period begins: a date or time, or a length before its end, for example 24h or 30d',
      ),
      '30d',
    ),
    until: typed('TIME', 'where it ends, itself not included: a date or time (default: now)'),
    title: typed('TEXT', 'the title at its top'),
    out: defaulting(typed('FILE', 'the file to write; it is replaced in one step'), 'docmirror-report.html'),
    maxAge: timeSpan('point out lists that have had no completed run for longer, for example 26h'),
  },
  settings: ['timezone', ...mirrorSettings],
  async run({ since, until, title, out, maxAge }, { config, line }) {
    line.work('making the report');
    const { reportPeriod, Zone } = await import('../render/web/period.ts');
    const { readReport } = await import('../store/read/report-data.ts');
    const { page } = await import('../render/web/page.ts');
    const { reportParts } = await import('../render/web/report.ts');
    const zone = new Zone(config.timezone ?? 'UTC');
    const nowMs = Date.now();
    const untilMs = until === null ? nowMs : momentIn(zone, '--until', until, nowMs);
    const sinceMs = momentIn(zone, '--since', since, untilMs);
    if (sinceMs >= untilMs)
      throw new UsageError(`--since: must be before --until or now, got ${JSON.stringify(since)}`);
    const period = reportPeriod(zone, sinceMs, untilMs, isLength(since));
    const data = readReport(config.database, period);
    return put(page(null, reportParts(data, zone, maxAge, title)), out);
  },
});

/** The moment that a flag gives, in milliseconds since 1970: a length before another moment, or a local time in the zone. */
function momentIn(zone: Zone, flag: string, text: string, beforeMs: number): number {
  const ms = Date.parse(named(flag, () => momentOf(text, beforeMs)));
  return isLength(text) || /[T ].*(Z|[+-][\d:]+)\s*$/i.test(text) ? ms : zone.moment(ms);
}
