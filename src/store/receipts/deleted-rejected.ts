import { type Receipt, type RunReceipt, receiptOrNull } from '../../audit/receipt.ts';
import { lists } from '../../contract/lists.ts';
import { tryToRead } from '../../errors.ts';
import { allRows, allValues, firstValue, type Sqlite } from '../tables/ask.ts';
import { rejectedIdentity } from '../tables/rejected-identity.ts';
import { RunComposer } from './statements.ts';

/** What is left of a run's rejected records, as the receipt of an upgrade or a pruning states it. */
export type RejectedLeft = NonNullable<Extract<Receipt, { readonly kind: 'prune' }>['rejected']>[number];

/** What the newest receipts that deleted rejected records say is left of them, by run. */
export function rejectedLeft(sqlite: Sqlite): Map<number, RejectedLeft> {
  const all = `SELECT receipt FROM sync_receipts WHERE run_id IS NULL AND instr(receipt, '"rejected":[') > 0 ORDER BY leaf_index`;
  const left = allValues<string>(sqlite, all).flatMap(text => {
    const receipt = receiptOrNull(text);
    return receipt?.kind === 'prune' || receipt?.kind === 'upgrade' ? (receipt.rejected ?? []) : [];
  });
  return new Map(left.map(each => [each.runId, each]));
}

/** The receipt of a run with what was left of its rejected records. */
export function withLeft(receipt: RunReceipt, left: RejectedLeft | undefined): RunReceipt {
  if (left === undefined) return receipt;
  const { count, hash } = left;
  return receipt.rejected === undefined
    ? { ...receipt, books: hash }
    : { ...receipt, rejected: { count, hash } };
}

/**
 * Deletes the rejected records that a condition finds, and returns what is left of those of their runs, which a receipt has to state. Those
 * of a run stay whose receipt says something else of them: evidence is not deleted.
 */
export function deleteRejected(sqlite: Sqlite, condition: string, bound: object = {}): RejectedLeft[] {
  const going = `SELECT run_id AS runId, id FROM rejected_records WHERE ${condition}`;
  const rows = allRows<{ runId: number; id: number }>(sqlite, going, bound);
  const [composer, before] = [new RunComposer(sqlite), rejectedLeft(sqlite)];
  const remove = sqlite.prepare<[number]>('DELETE FROM rejected_records WHERE id = ?');
  return [...Map.groupBy(rows, ({ runId }) => runId)].flatMap(([runId, ofRun]) => {
    const text = firstValue<string>(sqlite, 'SELECT receipt FROM sync_receipts WHERE run_id = ?', runId);
    const receipt = receiptOrNull(text ?? '');
    if (receipt?.kind !== 'run') return [];
    const said = before.get(runId)?.hash ?? receipt.rejected?.hash ?? receipt.books;
    const isOf05 = receipt.rejected === undefined;
    if (composer.rejected(runId, isOf05).hash !== said) return [];
    for (const { id } of ofRun) remove.run(id);
    return [{ runId, ...composer.rejected(runId, isOf05) }];
  });
}

/** Rows that are worked on in one step. */
const rowsPerStep = 1_000;

/**
 * Makes one row of those in which 0.5 noted one record again and again, because it had another text each time: the oldest, which then says
 * until when it was rejected. Returns what is left of each run, as `deleteRejected` does.
 */
export function mergeRejected(sqlite: Sqlite): RejectedLeft[] {
  type Row = { id: number; resource: string; record: string; place: number };
  const next = `SELECT r.id, resource, record, (page_no - coalesce(first_page_no, 1)) * coalesce(page_size, 0) + position AS place
    FROM rejected_records r LEFT JOIN sync_run_resources USING (run_id, resource)
    WHERE r.id > ? AND record IS NOT NULL AND identity IS NULL ORDER BY r.id LIMIT ${rowsPerStep}`;
  const name = sqlite.prepare('UPDATE rejected_records SET identity = ? WHERE id = ?');
  for (let after: number | undefined = 0; after !== undefined; ) {
    const step: Row[] = allRows<Row>(sqlite, next, after);
    for (const { id, resource, record, place } of step) {
      const list = lists.find(each => each.resource === resource);
      const found = list && tryToRead(() => rejectedIdentity(list, record, place));
      if (found) name.run(found.identity, id);
    }
    after = step.at(-1)?.id;
  }
  const other =
    'SELECT 1 FROM rejected_records o WHERE o.identity = r.identity AND o.resource = r.resource AND o.reason = r.reason';
  sqlite.exec(`UPDATE rejected_records AS r SET last_run_id = (${other.replace('1', 'max(last_run_id)')})
    WHERE identity IS NOT NULL AND NOT EXISTS (${other} AND o.id < r.id)`);
  return deleteRejected(
    sqlite,
    `id IN (SELECT id FROM rejected_records r WHERE EXISTS (${other} AND o.id < r.id))`,
  );
}
