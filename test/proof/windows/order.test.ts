import { expect, test } from 'vitest';
import { isInverted } from '../../../src/proof/windows/order.ts';
import { windowsByKey } from '../../../src/proof/windows/verdict.ts';
import { answerWith, itemsOf, madeItems } from './lists.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test('a page with lower keys than many records before it shows that the list is not in their order', () => {
  const pages = [0, 1, 2, 3, 4].map(index =>
    answerWith({ index, size: 10 }, itemsOf(upTo(50).slice(index * 10, index * 10 + 10)), 51),
  );
  const moved = answerWith({ index: 5, size: 10 }, itemsOf([2.5]), 51);
  expect(isInverted(pages, 'up')).toBe(false);
  expect(isInverted([...pages, moved], 'up')).toBe(true);
  expect(windowsByKey([...pages, moved], null, 'id', madeItems)).toBeNull();
});

test('a page that moved by some records does not', () => {
  const before = answerWith({ index: 0, size: 40 }, itemsOf(upTo(40)), 80);
  const after = answerWith({ index: 1, size: 40 }, itemsOf(upTo(80).slice(25, 65)), 95);
  expect(isInverted([before, after], 'up')).toBe(false);
});
