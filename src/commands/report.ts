import { named } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import type { Zone } from '../render/web/period.ts';
import { command } from './command.ts';
import { defaulting, isLength, mirrorSettings, momentOf, timeSpan, typed } from './flags.ts';
import { put } from './stream-out.ts';

export default command({
  flags: {
    since: defaulting(typed('TIME'), '30d'),
    until: typed('TIME'),
    title: typed('TEXT'),
    out: defaulting(typed('FILE'), 'docmirror-report.html'),
    maxAge: timeSpan,
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
