import { expect, test } from 'vitest';
import { reportPeriod } from '../../src/commands/report-period.ts';

const nowMs = Date.parse('2026-11-25T13:30:00Z');
const hourMs = 3_600_000;

test.each([
  ['6h', 6],
  ['24h', 24],
  ['1d', 24],
  ['48h', 48],
])('a report since %s has %i whole hours', (since, hours) => {
  for (const timezone of ['UTC', 'Europe/Zurich', 'Asia/Kolkata']) {
    const { span, stretches } = reportPeriod({ since, timezone }, nowMs);
    expect((span.toMs - span.fromMs) / hourMs, timezone).toBe(hours);
    expect(stretches).toHaveLength(hours);
  }
});
