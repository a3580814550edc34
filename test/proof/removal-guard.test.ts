import { expect, test } from 'vitest';
import { removalsAllowed } from '../../src/proof/removal-guard.ts';

const half = { shareMax: 0.5, allowAny: false };

test.each([
  ['twenty of a small list, all of it too', 0, 12, half, 20],
  ['its share of a large list, rounded down', 0, 101, half, 50],
  ['all of it where somebody said so', 0, 101, { ...half, allowAny: true }, 101],
  ['none where records were rejected', 1, 101, half, 0],
  ['none where records were rejected, whatever somebody said', 1, 101, { ...half, allowAny: true }, 0],
] as const)('a run may remove %s', (_what, rejected, recordCount, guard, allowed) => {
  expect(removalsAllowed(rejected, recordCount, guard)).toBe(allowed);
});
