import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { failureOf } from './io.ts';

/** The wait between two tries is random between these, in milliseconds, because many runs can wait for one. */
const againMs = { min: 200, max: 500 };

/** Opens something that needs the lock of the mirror. While another run has it, it tries again, for up to `waitMs`. */
export async function whenFree<T>(waitMs: number, signal: AbortSignal, take: () => T | Promise<T>) {
  for (const untilMs = performance.now() + waitMs; ; ) {
    try {
      return await take();
    } catch (error) {
      const leftMs = untilMs - performance.now();
      if (failureOf(error).code !== 'mirror_busy' || leftMs <= 0) throw error;
      const pauseMs = Math.min(leftMs, randomInt(againMs.min, againMs.max));
      await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
