import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openRanges } from '../../../src/proof/windows/cover.ts';
import { overlapOf, Plan } from '../../../src/proof/windows/plan.ts';
import { verdictByKey, windowsByKey } from '../../../src/proof/windows/verdict.ts';
import { allKeys, isIn, type KeyRange, keysOf, windowOf } from '../../../src/proof/windows/window.ts';
import { answerOf, answerWith, ids, itemsOf, largest, madeItems, times } from './lists.ts';

const range = fc
  .record({
    edges: fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 })),
    isFromIn: fc.boolean(),
    isToIn: fc.boolean(),
  })
  .map(
    ({ edges, isFromIn, isToIn }): KeyRange => ({
      from: Math.min(...edges),
      to: Math.max(...edges),
      isFromIn,
      isToIn,
    }),
  );

/** Every key that makes a difference: the edges, and those between them. */
const keys = Array.from({ length: 29 }, (_, at) => at / 2 - 1);

describe('the keys that are open', () => {
  test('are those that no window covers', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 6 }), fc.option(range), (windows, within) => {
        const open = openRanges(windows, within ?? allKeys);
        for (const key of keys) {
          const isOpen = isIn(key, within ?? allKeys) && !windows.some(window => isIn(key, window));
          expect(
            open.some(part => isIn(key, part)),
            `${key}`,
          ).toBe(isOpen);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('are the same keys in a list that falls', () => {
    fc.assert(
      fc.property(range, fc.integer({ min: 0, max: 12 }), (part, key) => {
        expect(isIn(key, keysOf(part, 'down'))).toBe(isIn(-key, part));
      }),
    );
  });
});

describe('a window', () => {
  const page = { index: 1, size: 3 };

  test('of ids speaks of the keys at its edges, one of times does not', () => {
    const answer = answerOf([1, 2, 3, 4, 5, 6, 7], page);
    expect(windowOf(answer, false, 'up', 'id')).toMatchObject({
      from: 4,
      to: 6,
      isFromIn: true,
      isToIn: true,
    });
    expect(windowOf(answer, false, 'up', 'content')).toMatchObject({
      from: 4,
      to: 6,
      isFromIn: false,
      isToIn: false,
    });
  });

  test('says nothing at or beyond its own total, unless the list has no records', () => {
    expect(windowOf(answerWith(page, itemsOf([4]), 3), false, 'up', 'id')).toBeNull();
    expect(windowOf(answerWith(page, itemsOf([]), 3), false, 'up', 'id')).toBeNull();
    expect(windowOf(answerOf([], { index: 0, size: 3 }), true, 'up', 'id')).toMatchObject(allKeys);
  });
});

describe('a list that nobody changes', () => {
  test.each([
    ['ids', 'id', ids],
    ['times that records share', 'content', times],
  ] as const)('is proven by one reading, whatever its %s', (_what, identity, lists) => {
    fc.assert(
      fc.property(lists, largest, fc.boolean(), (rising, size, isDown) => {
        const list = isDown ? rising.toReversed() : rising;
        const plan = new Plan(size, overlapOf(size, identity));
        const count = plan.countFor(list.length) ?? 0;
        const answers = Array.from({ length: count }, (_, at) =>
          answerOf(list, plan.at(at) ?? { index: 0, size }, { asked: 2 * at, arrived: 2 * at + 1 }),
        );
        const windows = windowsByKey(answers, null, identity, madeItems);
        if (windows === null) throw new Error('The list is in order.');
        // Only more records of one time than a page can have in common with its neighbour are left open.
        const open = verdictByKey(windows).open;
        for (const { from, to } of open) {
          expect(from).toBe(to);
          expect(list.filter(key => key === from).length).toBeGreaterThanOrEqual(overlapOf(size, identity));
        }
        expect(windows.isProven).toBe(open.length === 0);
      }),
      { numRuns: 60 },
    );
  });
});
