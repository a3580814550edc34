import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { overlapOf, Plan, pageAround, reachOf } from '../../../src/proof/windows/plan.ts';
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

  test('are the same in each run', () => {
    expect(pagesFor(new Plan(50, 2), 5_000)).toEqual(pagesFor(new Plan(50, 2), 5_000));
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

  test('leave out addresses that were used, and still overlap', () => {
    fc.assert(
      fc.property(largest, fc.integer({ min: 1, max: 2_000 }), (size, total) => {
        const overlap = overlapOf(size, 'id');
        const used = new Set(
          pagesFor(new Plan(size, overlap), total).map(page => `${page.index}/${page.size}`),
        );
        const isUsed = (page: { index: number; size: number }) => used.has(`${page.index}/${page.size}`);
        const others = pagesFor(new Plan(size, overlap, isUsed), total);
        expect(others.filter(isUsed)).toEqual([]);
        expect(reachOf(others.at(-1) ?? { index: -1, size: 1 })).toBeGreaterThan(total);
      }),
      { numRuns: 50 },
    );
  });

  test('overlap by more records if pages are large, and if keys repeat', () => {
    expect([500, 200, 100, 50].map(size => overlapOf(size, 'id'))).toEqual([10, 4, 2, 2]);
    expect([2_000, 200, 100, 50].map(size => overlapOf(size, 'content'))).toEqual([10, 4, 3, 3]);
  });
});

describe('a page around a place', () => {
  test('has records on both sides of it, at an address that was not used', () => {
    fc.assert(
      fc.property(largest, fc.integer({ min: 0, max: 3_000 }), (size, place) => {
        const first = pageAround(place, place, size, () => false);
        const second = pageAround(
          place,
          place,
          size,
          page => page.index === first?.index && page.size === first.size,
        );
        for (const page of [first, second]) {
          expect(page).not.toBeNull();
          if (page === null) continue;
          if (page.index > 0) expect(page.index * page.size).toBeLessThan(place);
          expect(reachOf(page)).toBeGreaterThan(place);
        }
        expect(second).not.toEqual(first);
      }),
    );
  });

  test('is none if no page has it inside', () => {
    expect(pageAround(1, 1, 1, () => false)).toBeNull();
    expect(pageAround(10, 20, 25, () => true)).toBeNull();
  });
});
