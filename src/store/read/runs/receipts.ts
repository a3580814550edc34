import type { Checkpoint } from '../../../audit/checkpoint.ts';
import { openForReading } from '../../file/open.ts';
import { ReceiptLog } from '../../receipts/receipt-log.ts';

/**
 * The present checkpoint of the log of a mirror's receipts, unsigned.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function checkpointOf(path: string): Checkpoint {
  using file = openForReading(path);
  return new ReceiptLog(file.sqlite).checkpoint();
}

/**
 * Every receipt of a mirror in order, from one state of it.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function* receiptsOf(path: string) {
  using file = openForReading(path);
  yield* new ReceiptLog(file.sqlite).receipts();
}
