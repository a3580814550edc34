import { expect, test } from 'vitest';
import { count, counted } from '../../src/render/numbers.ts';

test('a count is grouped by threes, as Intl does it, and one thing is singular', () => {
  const numbers = [0, 7, 999, 1_000, 12_345, 1_000_000, Number.MAX_SAFE_INTEGER, -4_023];
  const grouped = new Intl.NumberFormat('en-US');
  expect(numbers.map(count)).toEqual(numbers.map(number => grouped.format(number)));
  expect([0, 1, 1_203].map(number => counted(number, 'run'))).toEqual(['0 runs', '1 run', '1,203 runs']);
});
