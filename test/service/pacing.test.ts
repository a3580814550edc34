import { describe, expect, test } from 'vitest';
import { Pacer, retryAfterMs, retryAfterMsMax } from '../../src/service/pacer.ts';

const { signal } = new AbortController();

describe('the pace', () => {
  test('halves at each sign of trouble and never stops', () => {
    const pacer = new Pacer(8);
    const seen = Array.from({ length: 5 }, () => {
      pacer.noteOverload(null);
      return pacer.concurrency;
    });
    expect(seen).toEqual([4, 2, 1, 1, 1]);
  });

  test('rises again by one at a time, and not above the most allowed', () => {
    const pacer = new Pacer(3);
    pacer.noteOverload(null);
    const seen = new Set<number>();
    for (let answers = 0; answers < 200; answers++) {
      pacer.noteAnswer();
      seen.add(pacer.concurrency);
    }
    expect([...seen]).toEqual([1, 2, 3]);
  });

  test('delays every request for as long as the service asks, and counts the wait', async () => {
    const pacer = new Pacer(4);
    pacer.noteOverload(120);
    const startedAt = Date.now();
    await Promise.all([pacer.ready(signal), pacer.ready(signal)]);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(115);
    expect(pacer.waitedMs).toBeGreaterThan(0);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  test.each([
    ['5', 5_000],
    [' 0 ', 0],
    ['1.5', 1_500],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['2026-11-20T14:00:30+02:00', 30_000],
    ['86400', retryAfterMsMax],
    ['-5', null],
    ['1e3', null],
    ['5, 5', null],
    ['soon', null],
    ['', null],
    [undefined, null],
  ])('%j is %j ms', (header, ms) => expect(retryAfterMs(header, now)).toBe(ms));
});
