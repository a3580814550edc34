import { isDeepStrictEqual } from 'node:util';
import { receiptOrNull } from '../../audit/receipt.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { type Acceptance, acceptancesIn } from '../tables/accepted.ts';
import type { Audit } from './verify-tables.ts';

/** Compares the acceptances with the receipts of when they were made and withdrawn, each with all that it says. */
export function verifyAccepted({ sqlite, report }: Audit): void {
  const stated = new Map<number, Acceptance>();
  for (const { receipt: text } of new ReceiptLog(sqlite).receipts()) {
    const receipt = receiptOrNull(text);
    if (receipt?.kind === 'accept') {
      const { kind: _kind, mirrorId: _mirror, at, ...rest } = receipt;
      const open = { withdrawnAt: null, withdrawnBy: null, withdrawnWhy: null };
      stated.set(receipt.id, { ...rest, acceptedAt: at, ...open });
    }
    const before = receipt?.kind === 'withdraw' ? stated.get(receipt.id) : undefined;
    if (receipt?.kind === 'withdraw' && before !== undefined) {
      const { at, actor, why } = receipt;
      stated.set(receipt.id, { ...before, withdrawnAt: at, withdrawnBy: actor, withdrawnWhy: why });
    }
  }
  const rows = new Map(acceptancesIn(sqlite).map(row => [row.id, row]));
  for (const id of new Set([...rows.keys(), ...stated.keys()])) {
    const [row, said] = [rows.get(id), stated.get(id)];
    if (said === undefined) report('accepted_findings', id, 'no receipt says that this was accepted');
    else if (row === undefined)
      report('accepted_findings', id, 'a receipt says that this was accepted, and the row is missing');
    else if (!isDeepStrictEqual({ ...row }, { ...said }))
      report(
        'accepted_findings',
        id,
        'the row is not what the receipts of its acceptance and withdrawal say',
      );
  }
}
