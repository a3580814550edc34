import { setImmediate as nextTurn } from 'node:timers/promises';

/** Does work that is cut into slices, and lets others have their turn in between. */
export async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await nextTurn();
  }
}
