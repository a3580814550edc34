import { describe, expect, test } from 'vitest';
import { checkTotal, endingAnswers } from '../../../src/proof/windows/end.ts';
import { answerWith, itemsOf } from './lists.ts';

const answer = (index: number, size: number, count: number, total: number, asked = 1) =>
  answerWith({ index, size }, itemsOf(Array.from({ length: count }, (_, key) => key)), total, {
    asked,
    arrived: asked + 1,
  });

describe('an answer and its own total', () => {
  test.each([
    ['a full page whose total reaches its end', answer(1, 3, 3, 6), 'agrees'],
    ['a full page whose total does not', answer(1, 3, 3, 5), 'contradicts'],
    ['a short page that ends at its total', answer(1, 3, 2, 5), 'agrees'],
    ['a short page whose total goes on', answer(1, 3, 2, 6), 'contradicts'],
    ['an empty page before its total', answer(1, 3, 0, 4), 'contradicts'],
    ['a page at its total', answer(1, 3, 0, 3), 'silent'],
    ['a page beyond its total', answer(1, 3, 2, 2), 'silent'],
    ['the page of an empty list', answer(0, 3, 0, 0), 'agrees'],
    ['a first page with records, and a total of 0', answer(0, 3, 2, 0), 'contradicts'],
  ] as const)('%s', (_what, given, expected) => {
    expect(checkTotal(given)).toBe(expected);
  });
});

describe('the end of a list', () => {
  test('is a page that is not full and agrees with its total', () => {
    const [full, short] = [answer(0, 3, 3, 5), answer(1, 3, 2, 5)];
    expect([...endingAnswers([full, short])]).toEqual([short]);
  });

  test('is no page of a run in which one contradicts its total', () => {
    expect(endingAnswers([answer(0, 3, 2, 5), answer(1, 3, 2, 5)]).size).toBe(0);
  });
});
