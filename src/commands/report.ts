import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import { command } from './command.ts';
import { defaulting, duration, file, text } from './flags.ts';
import { makeReport } from './make-report.ts';
import { writeNamed } from './named-file.ts';
import { mirrorSettings } from './shared-flags.ts';

/** `docmirror report` */
export const report = command({
  flags: {
    since: defaulting(
      text(
        'TIME',
        'where the period begins: a date or time, or a length before its end, for example 24h or 30d',
      ),
      '30d',
    ),
    until: text('TIME', 'where it ends, itself not included: a date or time (default: now)'),
    title: text('TEXT', 'the title at its top'),
    out: defaulting(file('the file to write; it is replaced in one step'), 'docmirror-report.html'),
    maxAge: duration('point out lists that have had no completed run for longer, for example 26h'),
  },
  settings: ['timezone', ...mirrorSettings],
  examples: [
    { line: 'docmirror report', meaning: 'docmirror-report.html, on the last 30 days' },
    {
      line: 'docmirror report --since 2026-10-01 --until 2026-11-01 --timezone Europe/Zurich --title "Contracts, October"',
      meaning: 'a month, against the month before',
    },
    { line: 'docmirror report --out today.html --max-age 26h', meaning: 'with stale lists pointed out' },
  ],
  notes: [
    'The period begins and ends with a whole day of the time zone or, if it is at most two days long, with a whole hour. If it is not over, it is compared with an equal part of the period before.',
    "The file needs nothing else: no network, no scripts. It prints on two pages. It contains names and titles of the service's records, so share it only with people who are allowed to see these.",
  ],
  async run({ since, until, title, out, maxAge }, { config }) {
    const { html } = await makeReport(config.database, maxAge, null, {
      since,
      until: until ?? undefined,
      title: title ?? undefined,
      timezone: config.timezone,
    });
    writeNamed('--out', out, html);
    return `Wrote ${printable(out)} (${bytesText(Buffer.byteLength(html))}).\n`;
  },
  text: said => said,
});
