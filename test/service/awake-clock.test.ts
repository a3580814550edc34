import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { AwakeClock } from '../../src/service/pace.ts';

/** Holds up the whole process, as a stop does. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('the clock', () => {
  test('counts time in which nothing happens, and ends a wait when it is over', async () => {
    const clock = new AwakeClock();
    const beganMs = performance.now();
    await new Promise<void>(resolve => {
      clock.after(2_500, resolve);
    });
    expect(performance.now() - beganMs).toBeGreaterThan(2_400);
    expect(performance.now() - beganMs).toBeLessThan(3_400);
    expect(clock.nowMs).toBeGreaterThan(2_400);
    clock.close();
  });

  test('counts no more than a second of a stop, and a wait goes on behind it', async () => {
    const clock = new AwakeClock();
    let ended = 0;
    clock.after(1_800, () => ended++);
    const stop = clock.after(1_800, () => ended++);
    standStill(3_000);
    await wait(100);
    expect(clock.nowMs).toBeLessThan(1_700);
    expect(ended).toBe(0);
    stop();
    await wait(1_500);
    expect(ended).toBe(1);
    clock.close();
  });
});
