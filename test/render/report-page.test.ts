import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { instantMs } from '../../src/contract/time.ts';
import { reportPeriod, Zone } from '../../src/render/web/period.ts';
import { reportPage } from '../../src/render/web/report.ts';
import { openForWriting } from '../../src/store/file/open-to-write.ts';
import { readReport } from '../../src/store/read/report-data.ts';
import { temporaryFolder } from '../support/run-cli.ts';

const nowMs = Date.parse('2026-11-22T08:30:00.000Z');
const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** The section of the report on exports over time, without its tags and charts. */
async function exportsOverTime(times: readonly (string | null)[]): Promise<string> {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const { sqlite, close } = openForWriting(path);
  const insert = sqlite.prepare(
    'INSERT INTO document_exports (exported_at, exported_at_ms, _first_seen_run_id, _changed_run_id, _content) VALUES (?, ?, 1, 1, randomblob(16))',
  );
  for (const time of times) insert.run(time, time === null ? null : instantMs(time));
  close();
  const [since, until] = ['2026-04-15', '2026-05-20'].map(day => Date.parse(day)) as [number, number];
  const period = reportPeriod(new Zone('UTC'), { untilMs: until, since: { ms: since }, nowMs });
  const options = { nowMs, maxAgeMs: null, version: '0', root: null, title: null };
  const html = reportPage(readReport(path, period), options);
  const section = /<h2 id="exports">.*?(<div class="pair">|<h2 id="changes">)/s.exec(html)?.[0] ?? '';
  return section
    .replace(/<svg.*?<\/svg>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
}

describe('the exports over time', () => {
  test.each([
    [
      'are counted on their day in UTC, whatever zone they name',
      ['2026-05-10T00:30:00+01:00', '2026-05-11T00:00:00Z', '2026-05-11T23:30:00.5-01:00', '2026-05-11'],
      '4 exports from 15 Apr 2026 to 19 May 2026; the busiest day was 11 May 2026 with 2.',
    ],
    [
      'leave out what is no day of the calendar, and say so',
      [
        '2026-05-10T00:00:00Z',
        '2026-04-31T00:00:00Z',
        '2026-04-20T00:00:00.000Z',
        '2026-05-09T29:00:00Z',
        null,
      ],
      '2 exports from 15 Apr 2026 to 19 May 2026; the busiest day was 20 Apr 2026 with 1. Without a date that can be read, and so in no period: 3 exports.',
    ],
    [
      'are not drawn where none has a date that can be read',
      ['2026-02-30T00:00:00Z', '12:00', '5', 'now', null],
      'there is nothing to draw. Without a date that can be read, and so in no period: 5 exports.',
    ],
  ])('%s', async (_, times, words) => {
    expect(await exportsOverTime(times)).toContain(words);
  });
});

describe('a period', () => {
  test.each([
    [6 * hourMs, 6],
    [24 * hourMs, 24],
    [48 * hourMs, 48],
  ])('of %i ms has %i whole hours, in every zone', (lengthMs, hours) => {
    for (const timezone of ['UTC', 'Europe/Zurich', 'Asia/Kolkata']) {
      const now = Date.parse('2026-11-25T13:30:00Z');
      const asked = { untilMs: now, since: { lengthMs }, nowMs: now };
      const { span, stretches } = reportPeriod(new Zone(timezone), asked);
      expect((span.toMs - span.fromMs) / hourMs, timezone).toBe(hours);
      expect(stretches).toHaveLength(hours);
    }
  });

  test('has days of 23 and 25 hours when clocks are put forward and back, and as many days before', () => {
    const zone = new Zone('Europe/Zurich');
    for (const [day, hours] of [
      ['2026-03-29', 23],
      ['2026-10-25', 25],
    ] as const) {
      const from = zone.moment(Date.parse(day));
      expect((zone.begin('day', from, 1) - from) / hourMs).toBe(hours);
      const untilMs = zone.begin('day', from, 3);
      const { stretches, spanBefore } = reportPeriod(zone, {
        untilMs,
        since: { ms: from - 2 * dayMs },
        nowMs,
      });
      expect(stretches).toHaveLength(5);
      expect(zone.span(spanBefore)).not.toContain(':');
    }
    // These clocks skip midnight: the day begins at 01:00.
    const beirut = new Zone('Asia/Beirut');
    expect(beirut.dayAndTime(beirut.begin('day', Date.parse('2026-03-29T12:00Z')))).toBe('29 Mar 2026 01:00');
  });
});
