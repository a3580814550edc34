import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { overlapOf, Plan, reachOf } from '../../../src/proof/windows/plan.ts';
import { largest } from './lists.ts';

/** The pages of a plan for a list of a length. */
function pagesFor(plan: Plan, total: number) {
  return Array.from(
    { length: plan.countFor(total) ?? 0 },
    (_, number) => plan.at(number) ?? { index: 0, size: 0 },
  );
}

describe('the pages of a plan', () => {
  test('begin so many records before the page before them ends, and the last one is not full', () => {
    fc.assert(
      fc.property(largest, fc.integer({ min: 0, max: 3_000 }), (size, total) => {
        const overlap = overlapOf(size, 'content');
        const pages = pagesFor(new Plan(size, overlap), total);
        expect(pages[0]).toEqual({ index: 0, size });
        for (const [at, page] of pages.entries()) {
          expect(page.size).toBeLessThanOrEqual(size);
          const before = pages[at - 1];
          if (before === undefined) continue;
          expect(page.index * page.size).toBeLessThanOrEqual(reachOf(before) - overlap);
          expect(reachOf(page)).toBeGreaterThan(reachOf(before));
        }
        expect(pages.filter(page => reachOf(page) > total)).toHaveLength(1);
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    [500, 'content', 100_000, 1.1],
    [100, 'content', 20_000, 1.2],
    [50, 'content', 10_000, 1.3],
    [500, 'id', 100_000, 1.1],
    [100, 'id', 20_000, 1.2],
    [50, 'id', 10_000, 1.3],
  ] as const)(
    'of up to %i records with a %s are few: of %i records %f times as many as without an overlap',
    (size, identity, total, times) => {
      const count = new Plan(size, overlapOf(size, identity)).countFor(total) ?? Number.POSITIVE_INFINITY;
      expect(count / Math.ceil(total / size)).toBeLessThanOrEqual(times);
    },
  );

  test('are none at all after some, if a service serves only small ones', () => {
    expect(new Plan(5, 2).countFor(1_000)).toBeNull();
    expect(new Plan(5, 2).countFor(4)).toBe(1);
  });
});
