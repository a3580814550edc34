import { setImmediate as nextTurn } from 'node:timers/promises';

/** Does work that is cut into turns, and lets others have theirs in between. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await nextTurn();
  }
}
