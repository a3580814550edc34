import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { MirrorBusyError } from '../errors.ts';

/** The wait between two tries is random between these, in milliseconds, because many runs can wait for one. */
const againMs = { min: 200, max: 500 };

/**
 * Opens something that needs the lock of the mirror. If another run has the lock, it tries again for `waitMs`.
 *
 * @throws MirrorBusyError if the other run still has it then.
 */
export async function whenFree<T>(
  waitMs: number,
  signal: AbortSignal,
  take: () => T | Promise<T>,
): Promise<T> {
  const untilMs = performance.now() + waitMs;
  for (;;) {
    try {
      return await take();
    } catch (error) {
      const leftMs = untilMs - performance.now();
      if (!(error instanceof MirrorBusyError) || leftMs <= 0) throw error;
      const pauseMs = Math.min(leftMs, randomInt(againMs.min, againMs.max));
      await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
