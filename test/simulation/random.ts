import { mixed } from '../../src/sample/random.ts';

/** A whole number below 2^32 that depends on all the given ones, and on their order. */
export function hashOf(...numbers: readonly number[]): number {
  let hash = 0;
  for (const number of numbers) hash = mixed((Math.imul(hash, 31) + number + 0x6d2b79f5) >>> 0);
  return hash;
}
