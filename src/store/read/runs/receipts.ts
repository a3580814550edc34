import type { Checkpoint } from '../../../audit/checkpoint.ts';
import { openMirrorForReading } from '../../file/open.ts';
import { ReceiptLog } from '../../receipts/receipt-log.ts';
import { iterateMirror } from '../sqlite.ts';

/** The present checkpoint of a mirror's receipts, unsigned. Throws a RefusedFileError for a share, and a MirrorFileError if it can't be read. */
export function checkpointOf(path: string): Checkpoint {
  using file = openMirrorForReading(path);
  return file.sqlite.transaction(() => new ReceiptLog(file.sqlite).checkpoint())();
}

/** Every receipt of a mirror in order, from one state of it. Throws a MirrorFileError if there is no mirror, or it can't be read. */
export function receiptsOf(path: string) {
  return iterateMirror(path, sqlite => new ReceiptLog(sqlite).receipts());
}
