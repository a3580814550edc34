import { expect } from 'vitest';
import { Coverage } from './coverage.ts';
import type { Disk } from './disk.ts';
import { type FoundCase, playSeed } from './seeds.ts';

/**
 * Plays seeds one after the other, as many as the time allows, until one breaks a promise.
 *
 * @param atLeast as many are played, however slow the machine is.
 */
export async function playSeeds(
  { first, atLeast, atMost, timeMs }: { first: number; atLeast: number; atMost: number; timeMs: number },
  disk: Disk,
): Promise<{ readonly found: FoundCase | null; readonly coverage: Coverage; readonly seeds: number }> {
  const coverage = new Coverage();
  const until = performance.now() + timeMs;
  let seeds = 0;
  while (seeds < atLeast || (seeds < atMost && performance.now() < until)) {
    const { found, coverage: met } = await playSeed(first + seeds++, disk, {
      only: null,
      isShrinking: false,
    });
    if (met !== null) coverage.addAll(met);
    if (found !== null) return { found, coverage, seeds };
  }
  return { found: null, coverage, seeds };
}

/** Expects that no promise was broken, and that something was tried: a simulation in which no list is ever proven tries nothing. */
export function expectNoneBroken({ found, coverage, seeds }: Awaited<ReturnType<typeof playSeeds>>): void {
  const { kind, list, what } = found?.finding ?? {};
  expect(
    found,
    `${kind} of ${list}: ${what}\nnpm run simulate -- --seeds 1 --from ${found?.seed}`,
  ).toBeNull();
  const [, total = ''] = coverage.lines();
  expect(coverage.counts.get('(all)')?.get('proven') ?? 0, total).toBeGreaterThan(seeds);
}
