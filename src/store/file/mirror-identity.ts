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
