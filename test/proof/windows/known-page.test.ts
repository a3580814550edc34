import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sum } from '../../../src/contract/sum.ts';
import { sumSpokenOf } from '../../../src/proof/windows/known-page.ts';
import { isIn, windowOf } from '../../../src/proof/windows/window.ts';
import { answerOf, itemsOf, times } from './lists.ts';

test('a known page has the sum of the records that its window speaks of, or has to be read', () => {
  fc.assert(
    fc.property(
      times,
      fc.integer({ min: 2, max: 40 }),
      fc.nat(6),
      fc.boolean(),
      (list, size, index, isDown) => {
        const ordered = isDown ? list.toReversed() : list;
        const answer = answerOf(ordered, { index, size });
        const isLast = (index + 1) * size > list.length;
        const window = windowOf(answer, isLast, isDown ? 'down' : 'up', 'content');
        if (window === null) return;
        const items = itemsOf(ordered);
        const sum = new Sum();
        for (let at = index * size; at < Math.min(list.length, (index + 1) * size); at++) {
          const key = items.keys[at] as number;
          if (isIn(isDown ? -key : key, window)) sum.add(items.contents, at * 16);
        }
        const told = sumSpokenOf(window);
        if (told !== null) expect(told.equals(sum)).toBe(true);
        // A summary distinguishes ten records of one key at most.
        else
          expect(
            Math.max(
              ...[answer.summary.firstKey, answer.summary.lastKey].map(
                key => list.filter(other => other === key).length,
              ),
            ),
          ).toBeGreaterThanOrEqual(10);
      },
    ),
    { numRuns: 300 },
  );
});
