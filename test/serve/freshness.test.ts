import { expect, test } from 'vitest';
import { ageMs, isFresh } from '../../src/freshness.ts';
import { isStale } from '../../src/render/report/verdict.ts';
import { healthOf } from '../../src/serve/health.ts';

const nowMs = Date.parse('2026-11-20T12:00:00Z');
const hourMs = 3_600_000;

test.each([
  ['just now', 0, true],
  ['an hour ago', -hourMs, true],
  ['longer ago', -hourMs - 1, false],
  ['a minute ahead, as clocks differ', 60_000, true],
  ['in the future', 60_001, false],
])('a run that ended %s is as fresh to the status, to the report and to a probe', (_, offsetMs, isSo) => {
  const lastCompletedAt = new Date(nowMs + offsetMs).toISOString();
  expect(isFresh(lastCompletedAt, nowMs, hourMs)).toBe(isSo);
  expect(isStale({ lastCompletedAt } as Parameters<typeof isStale>[0], { nowMs, maxAgeMs: hourMs })).toBe(
    !isSo,
  );
  const ages = () => [{ resource: 'webhooks', lastCompletedAt }];
  expect(healthOf({ ages, maxAgeMs: hourMs }, nowMs).statusCode).toBe(isSo ? 200 : 503);
});

test('what never ended, or in the future, has no age', () => {
  expect(ageMs(null, nowMs)).toBe(null);
  expect(ageMs(new Date(nowMs + hourMs).toISOString(), nowMs)).toBe(null);
  expect(ageMs(new Date(nowMs + 1).toISOString(), nowMs)).toBe(0);
});
