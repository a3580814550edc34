import { describe, expect, test } from 'vitest';
import { reportPeriod, Zone } from '../../src/render/web/period.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

describe('a period', () => {
  test.each([6, 24, 48])('of %i hours has as many whole ones, in every zone', hours => {
    for (const timezone of ['UTC', 'Europe/Zurich', 'Asia/Kolkata']) {
      const now = Date.parse('2026-11-25T13:30:00Z');
      const { span, stretches } = reportPeriod(new Zone(timezone), now - hours * hourMs, now, true);
      expect((span.toMs - span.fromMs) / hourMs, timezone).toBe(hours);
      expect(stretches).toHaveLength(hours);
    }
  });

  test('of 90 days and more is shown by weeks that begin on Monday, each against as many days before', () => {
    for (const timezone of ['UTC', 'Europe/Zurich', 'Asia/Beirut']) {
      const zone = new Zone(timezone);
      // A Wednesday.
      const now = Date.parse('2026-11-25T13:30:00Z');
      expect(reportPeriod(zone, now - 89 * dayMs, now, true).unit).toBe('day');
      const days = (from: number, to: number) => Math.round((to - from) / dayMs);
      for (const length of [90, 365]) {
        const { unit, span, spanBefore, stretches, stretchesBefore } = reportPeriod(
          zone,
          now - length * dayMs,
          now,
          true,
        );
        expect(unit).toBe('week');
        expect(days(span.fromMs, span.toMs)).toBe(length);
        expect(stretches.at(-1)).toMatchObject({ toMs: span.toMs });
        for (const [at, { fromMs, toMs }] of stretches.entries()) {
          const before = stretchesBefore[at] ?? spanBefore;
          expect(days(before.fromMs, before.toMs)).toBe(days(fromMs, toMs));
          if (at > 0) expect(new Date(`${zone.text(fromMs, 'day')}T00:00Z`).getUTCDay()).toBe(1);
        }
        expect(stretchesBefore).toMatchObject({ 0: { fromMs: spanBefore.fromMs } });
        expect(stretchesBefore.at(-1)).toMatchObject({ toMs: span.fromMs });
      }
    }
    const [zone, since, until] = [new Zone('UTC'), Date.parse('2026-05-01'), Date.parse('2026-08-01')];
    // The three months before are shorter.
    const { spanBefore, stretchesBefore } = reportPeriod(zone, since, until, false);
    expect(zone.spanText(spanBefore)).toBe('2026-02-01 to 2026-04-30');
    expect(stretchesBefore.at(-1)?.toMs).toBe(since);
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
      const { stretches, spanBefore } = reportPeriod(zone, from - 2 * dayMs, untilMs, false);
      expect(stretches).toHaveLength(5);
      expect(zone.spanText(spanBefore)).not.toContain(':');
    }
    // Between 2:00 and 3:00 is shown twice.
    const again = Date.parse('2026-10-25T01:30:00Z');
    expect([again, again - hourMs].map(ms => zone.begin('hour', ms))).toEqual([
      again - hourMs / 2,
      again - 1.5 * hourMs,
    ]);
    // These clocks skip midnight: the day begins at 01:00.
    const beirut = new Zone('Asia/Beirut');
    expect(beirut.text(beirut.begin('day', Date.parse('2026-03-29T12:00Z')))).toBe('2026-03-29 01:00');
  });
});
