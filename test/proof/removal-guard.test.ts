import { expect, test } from 'vitest';
import { Sum } from '../../src/contract/sum.ts';
import { removalsAllowed } from '../../src/proof/removal-guard.ts';

const half = { shareMax: 0.5, allowAny: false };

test.each([
  ['twenty of a small list, all of it too', 0, 12, 12, half, 20],
  ['its share of a large list, rounded down', 0, 101, 101, half, 50],
  ['its share of the list as it stood before what came in the place of others', 0, 200, 101, half, 50],
  ['no more than its share of what there is', 0, 101, 200, half, 50],
  ['all of it where somebody said so', 0, 101, 50, { ...half, allowAny: true }, 101],
  ['none where records were rejected', 1, 101, 101, half, 0],
  ['none where records were rejected, whatever somebody said', 1, 101, 101, { ...half, allowAny: true }, 0],
] as const)('a run may remove %s', (_what, rejected, recordCount, settledCount, guard, allowed) => {
  const sum = Sum.from(recordCount, '0'.repeat(32));
  expect(removalsAllowed(rejected, { sum, settledCount }, guard)).toBe(allowed);
});
