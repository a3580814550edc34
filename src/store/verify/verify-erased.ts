import { isNull } from 'drizzle-orm';
import { readErasures, type StoredErasure } from '../receipts/erased.ts';
import { recordHistory, rejectedRecords } from '../tables/schema.ts';
import { prepare, prepareValue, select } from '../tables/statement.ts';
import type { Audit } from './verify-list.ts';

interface ErasedVersion {
  readonly resource: string;
  readonly recordId: number;
  readonly runId: number;
}

const noReceipt = 'the text is missing, and no receipt says that it was erased';

/**
 * Compares the missing texts with the receipts of erasures.
 *
 * @returns how many texts of versions and of rejected records are missing.
 */
export function verifyErased(audit: Audit): number {
  const erasures = readErasures(audit.sqlite);
  return verifyVersions(audit, erasures) + verifyRejected(audit, erasures);
}

/** A run ends at most one version of a record, so the record and the run identify the version of a receipt. */
function verifyVersions(audit: Audit, erasures: readonly StoredErasure[]): number {
  const { sqlite, differences, prunedThrough } = audit;
  const { id, resource: of, recordId: record, validToRunId: runId } = recordHistory;
  const versions = prepare(sqlite, () =>
    select({ id, resource: of, recordId: record, runId })
      .from(recordHistory)
      .where(isNull(recordHistory.record)),
  ).all();
  const missing = new Set(versions.map(keyOf));
  const said = new Set<string>();
  for (const { leafIndex, receipt, isBeforeRebuild } of erasures) {
    const { resource, recordId, ended } = receipt;
    if (resource === 'rejected-records') continue;
    const keys = ended.map(({ runId }) => keyOf({ resource, recordId, runId }));
    for (const key of keys) said.add(key);
    const found = keys.filter(key => missing.has(key)).length;
    const pruned = ended.filter(({ runId }) => runId <= prunedThrough).length;
    // A rebuild accepts the history as it is, even if versions are gone.
    const isRight = isBeforeRebuild ? found <= receipt.versions : found + pruned === receipt.versions;
    if (isRight) continue;
    const words = `erased texts of ${resource} ${recordId}: ${receipt.versions} by the receipt, ${found} by the history`;
    differences.add('sync_receipts', leafIndex, words, 'content');
  }
  for (const version of versions)
    if (!said.has(keyOf(version)))
      differences.add('record_history', version.id, `${version.resource} ${version.recordId}: ${noReceipt}`);
  return versions.length;
}

function keyOf({ resource, recordId, runId }: ErasedVersion): string {
  return `${resource} ${recordId} ${runId}`;
}

function verifyRejected({ sqlite, differences }: Audit, erasures: readonly StoredErasure[]): number {
  const { id: row, record } = rejectedRecords;
  const ids = prepareValue(sqlite, () =>
    select({ id: row }).from(rejectedRecords).where(isNull(record)),
  ).all();
  const missing = new Set(ids);
  const said = new Set<number>();
  for (const { leafIndex, receipt } of erasures) {
    if (receipt.resource !== 'rejected-records') continue;
    said.add(receipt.recordId);
    if (!missing.has(receipt.recordId)) {
      const words = `it says that rejected record ${receipt.recordId} lost its text, but there is no such record without text`;
      differences.add('sync_receipts', leafIndex, words, 'content');
    }
  }
  for (const id of ids) if (!said.has(id)) differences.add('rejected_records', id, noReceipt);
  return ids.length;
}
