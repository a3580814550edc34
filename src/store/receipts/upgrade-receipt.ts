import type Database from 'better-sqlite3';
import type { UpgradeReceipt } from '../../audit/receipt.ts';
import { currentStates } from './current-states.ts';
import { keptNow } from './kept-sums.ts';
import { ReceiptLog } from './receipt-log.ts';

/**
 * Writes the state of each list when the file gets another shape. Call it in the transaction that changes the file, after all
 * contents are computed.
 */
export function writeUpgradeReceipt(
  sqlite: Database.Database,
  upgrade: Pick<UpgradeReceipt, 'docmirrorVersion' | 'fromVersion' | 'at'>,
): void {
  const log = new ReceiptLog(sqlite);
  log.append({
    kind: 'upgrade',
    mirrorId: log.mirrorId(),
    ...upgrade,
    lists: currentStates(sqlite),
    kept: keptNow(sqlite),
  });
}
