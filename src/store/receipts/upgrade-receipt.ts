import type Database from 'better-sqlite3';
import type { ListSum, UpgradeReceipt } from '../../audit/receipt.ts';
import { lists } from '../../contract/lists.ts';
import { ContentSum } from '../tables/content-sums.ts';
import { ReceiptLog } from './receipt-log.ts';

/** Writes what each list holds when the file gets another shape, in the transaction that changes it, when the sums are right. */
export function writeUpgradeReceipt(
  sqlite: Database.Database,
  upgrade: Pick<UpgradeReceipt, 'docmirrorVersion' | 'fromVersion' | 'at'>,
): void {
  const log = new ReceiptLog(sqlite);
  const stateOf = <Name extends string>(table: string, resource: Name): ListSum<Name> => {
    const sum = new ContentSum(sqlite, table, resource).stored();
    return { resource, recordCount: sum.count, checksum: sum.toString() };
  };
  log.append({
    kind: 'upgrade',
    mirrorId: log.mirrorId(),
    ...upgrade,
    lists: [
      ...lists.map(({ table, resource }) => stateOf(table, resource)),
      stateOf('connections', 'connections'),
    ],
  });
}
