import type { Sum } from '../contract/sum.ts';

/**
 * The commit gate: before a list is committed, what its rows come to must be what was read of it, with what stays because nothing
 * speaks of it, in number and in sum, whatever bug, altered file or quirk of the service came before.
 */
export function passesGate(expected: Sum, rows: Sum): boolean {
  return expected.equals(rows); // guard: commit gate
}
