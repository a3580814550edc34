import { ReceiptLog } from '../receipts/receipt-log.ts';
import { openOfAnyShape } from './open.ts';

/** The id of the mirror that a file is, or a copy of; null where it is none, or has none, as those of 0.1.0 have not. */
export function mirrorIdOf(path: string): string | null {
  try {
    using file = openOfAnyShape(path, () => undefined);
    return new ReceiptLog(file.sqlite).mirrorId();
  } catch {
    return null;
  }
}

/** The ids of two files where they are known to be of different mirrors; null where they are of one, or one of them has none. */
export function idsOfDifferentMirrors(one: string, other: string): [string, string] | null {
  const [idOfOne, idOfOther] = [mirrorIdOf(one), mirrorIdOf(other)];
  return idOfOne === null || idOfOther === null || idOfOne === idOfOther ? null : [idOfOne, idOfOther];
}
