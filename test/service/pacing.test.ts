import { describe, expect, test } from 'vitest';
import { RequestLimiter } from '../../src/service/pace.ts';

const { signal } = new AbortController();

describe('the pace', () => {
  test('halves at each sign of trouble and never stops', () => {
    const limiter = new RequestLimiter(8);
    const seen = Array.from({ length: 5 }, () => {
      limiter.noteOverload();
      return limiter.concurrency;
    });
    expect(seen).toEqual([4, 2, 1, 1, 1]);
  });

  test('rises again by one at a time, and not above the most allowed', () => {
    const limiter = new RequestLimiter(3);
    limiter.noteOverload();
    const seen = new Set<number>();
    for (let answers = 0; answers < 200; answers++) {
      limiter.noteAnswer();
      seen.add(limiter.concurrency);
    }
    expect([...seen]).toEqual([1, 2, 3]);
  });

  test('delays every request for as long as the service asks, and counts the wait', async () => {
    const limiter = new RequestLimiter(4);
    limiter.hold(120);
    const startedAt = Date.now();
    await Promise.all([limiter.ready(signal), limiter.ready(signal)]);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(115);
    expect(limiter.waitedMs).toBeGreaterThan(0);
  });
});
