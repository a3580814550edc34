import { expect } from 'vitest';
import type { Disk } from './disk.ts';
import type { HabitKind } from './paginator.ts';
import { playSeed } from './seeds.ts';

/**
 * Plays seeds one after the other, as many as the time allows, and expects that no promise is broken, and that something was tried: a
 * simulation in which no list is ever proven tries nothing. Returns the habits of paginators that answers showed.
 *
 * @param atLeast as many are played, however slow the machine is.
 */
export async function expectNoneBroken(
  { first, atLeast, atMost, timeMs }: { first: number; atLeast: number; atMost: number; timeMs: number },
  disk: Disk,
): Promise<ReadonlySet<HabitKind>> {
  const until = performance.now() + timeMs;
  let [seeds, proven] = [0, 0];
  const shown = new Set<HabitKind>();
  while (seeds < atLeast || (seeds < atMost && performance.now() < until)) {
    const { found, verdicts, habits } = await playSeed(first + seeds++, disk, false);
    const { kind, list, what } = found?.finding ?? {};
    const again = `npm run simulate -- --seeds 1 --from ${found?.seed}`;
    expect(found, `${kind} of ${list}: ${what}\n${again}`).toBeNull();
    for (const habit of habits) shown.add(habit);
    proven += verdicts.filter(verdict => verdict === 'proven').length;
  }
  expect(proven).toBeGreaterThan(seeds);
  return shown;
}
