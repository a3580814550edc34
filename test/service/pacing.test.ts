import { describe, expect, test } from 'vitest';
import { Pacer } from '../../src/service/pace.ts';

const { signal } = new AbortController();

describe('the pace', () => {
  test('halves at each sign of trouble and never stops', () => {
    const pacer = new Pacer(8);
    const seen = Array.from({ length: 5 }, () => {
      pacer.noteOverload();
      return pacer.concurrency;
    });
    expect(seen).toEqual([4, 2, 1, 1, 1]);
  });

  test('rises again by one at a time, and not above the most allowed', () => {
    const pacer = new Pacer(3);
    pacer.noteOverload();
    const seen = new Set<number>();
    for (let answers = 0; answers < 200; answers++) {
      pacer.noteAnswer();
      seen.add(pacer.concurrency);
    }
    expect([...seen]).toEqual([1, 2, 3]);
  });

  test('delays every request for as long as the service asks, and counts the wait', async () => {
    const pacer = new Pacer(4);
    pacer.hold(120);
    const startedAt = Date.now();
    await Promise.all([pacer.ready(signal), pacer.ready(signal)]);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(115);
    expect(pacer.waitedMs).toBeGreaterThan(0);
  });
});
