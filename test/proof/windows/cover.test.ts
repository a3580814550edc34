import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainsOf, openRanges } from '../../../src/proof/windows/cover.ts';
import type { PageAnswer } from '../../../src/proof/windows/page.ts';
import { overlapOf, Plan } from '../../../src/proof/windows/plan.ts';
import { verdictByKey, wholePages, windowsByKey } from '../../../src/proof/windows/verdict.ts';
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

  test('are all keys if there is no window', () => {
    expect(openRanges([])).toEqual([allKeys]);
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

  test('on a list that falls has the newest key first', () => {
    expect(windowOf(answerOf([9, 8, 7, 6, 5], page), true, 'down', 'id')).toMatchObject({
      from: -6,
      to: Infinity,
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

  test('is proven by one page that is not full, in whatever order', () => {
    const answer = answerOf([3, Number.NaN, 1], { index: 0, size: 5 });
    expect(wholePages([answer])).toEqual({ isWhole: true, isConfirmed: false });
    expect(windowsByKey([answer], null, 'id', madeItems)).toBeNull();
  });
});

describe('windows that lie side by side', () => {
  const at = (index: number, keysThere: number[], total: number) =>
    answerWith({ index, size: 3 }, itemsOf(keysThere), total);

  test('do not hang together if they share no record', () => {
    const answers = [at(0, [1, 2, 5], 5), at(1, [3, 6], 5)];
    const windows = windowsByKey(answers, null, 'id', madeItems);
    expect(windows).toMatchObject({ isProven: false });
    expect(openRanges(windows?.windows ?? [])).toEqual([]);
    expect(windows?.chains).toHaveLength(2);
  });

  test('hang together by a record deep inside them, too', () => {
    const many = Array.from({ length: 40 }, (_, key) => key);
    const long = answerWith({ index: 0, size: 40 }, itemsOf(many), 60);
    const other = answerWith({ index: 1, size: 30 }, itemsOf([15.5, 20, 60]), 33);
    const windows = [long, other].flatMap(answer => windowOf(answer, false, 'up', 'id') ?? []);
    expect(chainsOf(windows, 'id', madeItems)).toHaveLength(1);
    // A page that was not read shows only its edges.
    expect(chainsOf(windows, 'id', answer => (answer === long ? null : madeItems(answer)))).toHaveLength(2);
    // Two that were not read are known: the mirror's rows are their records.
    expect(chainsOf(windows, 'id', () => null)).toHaveLength(1);
  });

  describe('if they are known and were not read', () => {
    const windowsOf = (identity: 'id' | 'content', ...answers: PageAnswer[]) =>
      answers.flatMap(answer => windowOf(answer, false, 'up', identity) ?? []);
    const chainCount = (identity: 'id' | 'content', ...answers: PageAnswer[]) =>
      chainsOf(windowsOf(identity, ...answers), identity, () => null).length;
    const rising = Array.from({ length: 100 }, (_, key) => key);

    test('hang together, however far they overlap', () => {
      fc.assert(
        fc.property(fc.integer({ min: 2, max: 40 }), fc.boolean(), (overlap, isDown) => {
          const list = isDown ? rising.toReversed() : rising;
          const first = answerOf(list, { index: 0, size: 50 });
          const next = answerWith({ index: 1, size: 50 }, itemsOf(list.slice(50 - overlap, 95)), 100);
          const direction = isDown ? 'down' : 'up';
          const windows = [first, next].flatMap(each => windowOf(each, false, direction, 'id') ?? []);
          expect(chainsOf(windows, 'id', () => null)).toHaveLength(1);
        }),
      );
    });

    test('hang together by a record whose time is at the edge of neither', () => {
      const at = (index: number, keysThere: number[]) =>
        answerWith({ index, size: keysThere.length }, itemsOf(keysThere), 1_000);
      const first = at(0, rising.slice(0, 50));
      expect(chainCount('content', first, at(1, rising.slice(20, 70)))).toBe(1);
      const { keys, contents } = itemsOf([49, ...rising.slice(49)]);
      const twin = { keys: keys.slice(1), contents: contents.slice(16) };
      expect(chainCount('content', first, answerWith({ index: 1, size: 51 }, twin, 1_000))).toBe(2);
    });

    test('do not hang together if one was read and shows none of the records at the edge of the other', () => {
      const first = answerOf(rising, { index: 0, size: 50 });
      const next = answerWith({ index: 1, size: 30 }, itemsOf([20.5, 25, 60]), 33);
      const windows = windowsOf('id', first, next);
      expect(chainsOf(windows, 'id', each => (each === next ? madeItems(each) : null))).toHaveLength(2);
      expect(chainsOf(windows, 'id', madeItems)).toHaveLength(1);
    });

    test('hang together if the second one was read and shows the edge of the first deep inside', () => {
      const first = answerOf(rising, { index: 0, size: 50 });
      const next = answerWith({ index: 1, size: 50 }, itemsOf(rising.slice(20, 70)), 100);
      const read = (each: PageAnswer) => (each === next ? madeItems(each) : null);
      expect(chainsOf(windowsOf('id', first, next), 'id', read)).toHaveLength(1);
    });
  });
});
