import { type Receipt, receiptOrNull, receiptText } from '../../audit/receipt.ts';
import { allValues, type Sqlite } from '../tables/ask.ts';
import { ReceiptLog } from './receipt-log.ts';
import { ofKind } from './statements.ts';

/** The receipt of a restore. */
export type Restore = Extract<Receipt, { readonly kind: 'restore' }>;

/** Each log that restores of a log left behind, as the hashes of all its leaves, with the receipt that tells of it. */
export function logsLeftBehind(leaves: readonly string[], restores: readonly Restore[]) {
  return restores.flatMap(restore => {
    const { shared, leftBehind, earlier } = restore;
    const logs = leftBehind === null ? earlier : [{ shared, leftBehind }, ...earlier];
    return logs.map(log => ({ restore, leaves: [...leaves.slice(0, log.shared), ...log.leftBehind] }));
  });
}

/** The receipt of a restore from a backup, as a text. `pending` is that of an earlier one that is not in the replaced log yet. */
export function composeRestore(
  backup: Sqlite,
  replaced: { readonly sqlite: Sqlite; readonly pending: string | null } | null,
  about: Pick<Restore, 'at' | 'actor' | 'fromRunId'>,
): string {
  const leaves = leavesOf(backup);
  const partOf = (log: readonly string[]) => {
    const parting = log.findIndex((leaf, at) => leaf !== leaves[at]);
    const shared = parting < 0 ? log.length : parting;
    return { shared, leftBehind: log.slice(shared) };
  };
  const all = { kind: 'restore', mirrorId: new ReceiptLog(backup).mirrorId(), ...about } as const;
  if (replaced === null) return receiptText({ ...all, shared: 0, leftBehind: null, earlier: [] });
  const own = leavesOf(replaced.sqlite);
  const known = new Set(restoresIn(backup).map(({ at }) => at));
  const lost = [...restoresIn(replaced.sqlite), ...restoreOf(replaced.pending)].filter(
    ({ at }) => !known.has(at),
  );
  const earlier = logsLeftBehind(own, lost).map(log => partOf(log.leaves));
  return receiptText({ ...all, ...partOf(own), earlier: earlier.filter(log => log.leftBehind.length > 0) });
}

/** Appends the receipt of a restore that happened to this log; its text, or null if there is none. */
export function appendRestore(sqlite: Sqlite, text: string | null): void {
  const [log, leaves] = [new ReceiptLog(sqlite), leavesOf(sqlite)];
  for (const receipt of restoreOf(text))
    if (receipt.mirrorId === log.mirrorId() && isTrueOf(leaves, receipt)) log.append(receipt);
}

/** Whether a restore can have happened to a log. It has not if it was killed before the backup took the mirror's place. */
export function isTrueOf(leaves: readonly string[], { shared, leftBehind }: Restore): boolean {
  return shared <= leaves.length && (leftBehind?.[0] ?? '') !== leaves[shared];
}

const leavesOf = (sqlite: Sqlite) =>
  allValues<string>(sqlite, 'SELECT leaf_hash FROM sync_receipts ORDER BY leaf_index');

const restoresIn = (sqlite: Sqlite) =>
  allValues<string>(sqlite, `SELECT receipt FROM ${ofKind('restore')} ORDER BY leaf_index`).flatMap(
    restoreOf,
  );

function restoreOf(text: string | null): Restore[] {
  const receipt = receiptOrNull(text ?? '');
  return receipt?.kind === 'restore' ? [receipt] : [];
}
