import { readErasures, type StoredErasure } from '../receipts/erased.ts';
import { firstValue } from '../tables/query.ts';
import type { Audit } from './verify-list.ts';

interface ErasedVersion {
  readonly id: number;
  readonly resource: string;
  readonly recordId: number;
  readonly runId: number;
}

const noReceipt = 'the text is missing, and no receipt says that it was erased';

/**
 * Compares the texts that are missing with the receipts of erasures.
 *
 * @returns how many texts of versions and of rejected records are missing.
 */
export function verifyErased(audit: Audit): number {
  const erasures = readErasures(audit.sqlite);
  return verifyVersions(audit, erasures) + verifyRejected(audit, erasures);
}

/** A run ends at most one version of a record, so the record and the run tell which version a receipt speaks of. */
function verifyVersions(audit: Audit, erasures: readonly StoredErasure[]): number {
  const { sqlite, differences, prunedThrough } = audit;
  const versions = sqlite
    .prepare<[], ErasedVersion>(
      `SELECT id, resource, record_id AS recordId, valid_to_run_id AS runId FROM record_history WHERE record IS NULL`,
    )
    .all();
  const missing = new Set(versions.map(keyOf));
  const said = new Set<string>();
  for (const { leafIndex, receipt, isBeforeRebuild } of erasures) {
    const { resource, recordId, ended } = receipt;
    if (resource === 'rejected-records') continue;
    const keys = ended.map(({ runId }) => keyOf({ resource, recordId, runId }));
    for (const key of keys) said.add(key);
    const found = keys.filter(key => missing.has(key)).length;
    const pruned = ended.filter(({ runId }) => runId <= prunedThrough).length;
    // A rebuild takes the history as it is, also if versions are gone.
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

function keyOf({ resource, recordId, runId }: Omit<ErasedVersion, 'id'>): string {
  return `${resource} ${recordId} ${runId}`;
}

function verifyRejected({ sqlite, differences }: Audit, erasures: readonly StoredErasure[]): number {
  const said = new Set<number>();
  for (const { leafIndex, receipt } of erasures) {
    if (receipt.resource !== 'rejected-records') continue;
    said.add(receipt.recordId);
    const isMissing = 'SELECT 1 FROM rejected_records WHERE id = ? AND record IS NULL';
    if (firstValue(sqlite, isMissing, receipt.recordId) === undefined) {
      const words = `it says that rejected record ${receipt.recordId} lost its text, but there is no such record without text`;
      differences.add('sync_receipts', leafIndex, words, 'content');
    }
  }
  const ids = sqlite
    .prepare<[], number>('SELECT id FROM rejected_records WHERE record IS NULL')
    .pluck()
    .all();
  for (const id of ids) if (!said.has(id)) differences.add('rejected_records', id, noReceipt);
  return ids.length;
}
