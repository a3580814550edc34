import { expect, test } from 'vitest';
import { mayRemove } from '../../src/proof/removal.ts';

test('allows a share of the rows of the last settled run, and always twenty', () => {
  const guard = { shareMax: 0.25, allowAny: false };
  expect(mayRemove(20, 0, guard)).toBe(true);
  expect(mayRemove(21, 0, guard)).toBe(false);
  expect(mayRemove(25, 100, guard)).toBe(true);
  expect(mayRemove(26, 100, guard)).toBe(false);
  expect(mayRemove(1_000, 100, { ...guard, allowAny: true })).toBe(true);
});
