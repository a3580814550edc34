import { describe, expect, test } from 'vitest';
import {
  checkTotal,
  contradictedOnce,
  countedAnswers,
  endingAnswers,
} from '../../../src/proof/windows/end.ts';
import { directionOf, learntOrder } from '../../../src/proof/windows/order.ts';
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

  test('is open while pages are full or empty', () => {
    expect(endingAnswers([answer(0, 3, 3, 3), answer(1, 3, 0, 3)]).size).toBe(0);
  });
});

describe('an answer that contradicts its total', () => {
  const old = answer(1, 3, 2, 6, 1);
  const late = answer(1, 3, 2, 5, 7);

  test('is asked for once more, and no more often', () => {
    expect(contradictedOnce([old])).toEqual([old]);
    expect(contradictedOnce([old, answer(1, 3, 2, 6, 7)])).toEqual([]);
  });

  test('does not count any more if a later one of its address came', () => {
    expect(countedAnswers([old, late])).toEqual([late]);
    expect(countedAnswers([old, answer(1, 3, 3, 6, 7)])).toHaveLength(1);
  });

  test('counts beside one that was asked for before it arrived, if that one contradicts its total, too', () => {
    expect(countedAnswers([late, old])).toEqual([late]);
  });
});

describe('the order of a list', () => {
  const of = (...keys: number[]) => answerWith({ index: 0, size: 9 }, itemsOf(keys), 9);

  test('is the one that all answers have', () => {
    expect(directionOf([of(1, 2, 2), of(5, 9)], null)).toBe('up');
    expect(directionOf([of(2, 2, 1), of(9, 5)], null)).toBe('down');
    expect(directionOf([of(1, 2), of(9, 5)], null)).toBeNull();
    expect(directionOf([of(1, Number.NaN, 2)], null)).toBeNull();
  });

  test('is that of the last proven full sync if the answers fit both, and none if they contradict it', () => {
    expect(directionOf([of(5)], 'down')).toBe('down');
    expect(directionOf([of(1, 2)], 'down')).toBeNull();
    expect(directionOf([of(1, 2)], 'none')).toBeNull();
  });

  test('is kept for the next run', () => {
    expect(learntOrder([of(1, 2)])).toBe('up');
    expect(learntOrder([of(3, 2), of(7)])).toBe('down');
    expect(learntOrder([of(2, 1, 3)])).toBe('none');
    expect(learntOrder([of(2)])).toBeNull();
  });
});
