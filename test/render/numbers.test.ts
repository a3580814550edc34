import { expect, test } from 'vitest';
import { count, counted } from '../../src/render/numbers.ts';

test('a count is grouped by threes, as Intl does it', () => {
  const numbers = [
    0,
    7,
    999,
    1_000,
    12_345,
    999_999,
    1_000_000,
    1_234_567_890,
    Number.MAX_SAFE_INTEGER,
    -4_023,
  ];
  const grouped = new Intl.NumberFormat('en-US');
  expect(numbers.map(count)).toEqual(numbers.map(number => grouped.format(number)));
});

test('of one thing the singular is said', () => {
  expect([0, 1, 2, 1_203].map(number => counted(number, 'run'))).toEqual([
    '0 runs',
    '1 run',
    '2 runs',
    '1,203 runs',
  ]);
});
