import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareTimes } from '../../../src/store/tables/connection-claims.ts';

const inOrder = [
  ['2026-02-30T12:00:00Z', 'xxxx-xx-xxTxx:xx:xxZ', '5', null],
  ['2026-02-27T12:00:00+00:00', '2026-02-27T12:00:00Z', '2026-02-27T12:00:00'],
  ['2026-02-28T12:00:00Z', '2026-02-28T13:00:00+01:00'],
  ['2026-03-31T12:00:00Z', '2026-03-31T12:00:00'],
  ['2026-03-31T12:00:00.001Z'],
];

test('times that can not be read are older than all that can, in whatever notation', () => {
  const rankOf = (time: string | null) => inOrder.findIndex(times => times.includes(time));
  const time = fc.constantFrom(...inOrder.flat());
  fc.assert(
    fc.property(time, time, (left, right) => {
      expect(Math.sign(compareTimes(left, right))).toBe(Math.sign(rankOf(left) - rankOf(right)));
    }),
    { numRuns: 1_000 },
  );
});
