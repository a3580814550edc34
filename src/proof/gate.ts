import type { Sum } from '../contract/sum.ts';

/** The rows that were about to be committed are not what was read: a shortcut lied, or someone else has written to the file. */
export class GateError extends Error {
  override readonly name: string = 'GateError';
}

/** What only all pages of a list can tell was about to be taken from some of them: the list has to be read as a whole. */
export class PartialReadError extends GateError {
  override readonly name = 'PartialReadError';
}

/**
 * The commit gate: what the rows come to must be what was read, less what was rejected and with what was withheld, in number and
 * in sum, whatever bug, tampered shortcut or quirk of the service came before it.
 *
 * @throws GateError where it is not.
 */
export function passGate(resource: string, read: Sum | null, rows: Sum): void {
  if (read?.equals(rows)) return;
  throw new GateError(`the rows of ${resource} would not come to what was read of the list`);
}
