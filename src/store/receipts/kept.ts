import { LinesHash } from '../../audit/hashes.ts';
import { type ListSum, type Receipt, receiptOrNull } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { hash16, Sum } from '../../contract/sum.ts';
import type { TimeSlice } from '../../time-slice.ts';
import { allRows, type Sqlite } from '../tables/ask.ts';

type Resource = ListSum['resource'];
type Pruning = Extract<Receipt, { readonly kind: 'prune' }>;

/** Each version that the runs up to `@through` wrote: its record, the runs that first saw and wrote it, its content, and its end. */
const versionsOf = (resource: Resource) =>
  `SELECT id, _first_seen_run_id AS first, _changed_run_id AS changed, _content AS content, NULL AS ended, NULL AS ended_by
   FROM ${tableOf(resource)} WHERE +_changed_run_id <= @through
   UNION ALL
   SELECT record_id, first_seen_run_id, valid_from_run_id, content, valid_to_run_id, ended_by
   FROM record_history WHERE +resource = '${resource}' AND valid_from_run_id <= @through`;

const text = "id || ' ' || first || ' ' || changed || ' ' || lower(hex(content))";

/**
 * The sums of versions that upgrades and rebuilds state, because changes hashes do not hold before a rebuild: of each version its content,
 * its runs and its end by then. A row that is updated later has the same in the history, so they hold until a pruning deletes versions.
 */
export function keptSums(sqlite: Sqlite, through: number) {
  return keptResources.map(resource => {
    const stated = `SELECT ${text} || iif(ended <= @through, ' ' || ended || ' ' || ended_by, '') FROM (${versionsOf(resource)})`;
    const versions = sqlite.prepare<[{ through: number }], string>(stated);
    const sum = new Sum();
    for (const version of versions.pluck().iterate({ through })) sum.add(hash16(version));
    return { resource, count: sum.count, sum: sum.toString() };
  });
}

/** The hashes of versions that a pruning leaves of the runs up to `through`. A row that is moved into the history later keeps its line. */
export async function keptHashes(sqlite: Sqlite, through: number, slice: TimeSlice) {
  const kept: { resource: Resource; count: number; hash: string }[] = [];
  for (const resource of keptResources) {
    const left = `SELECT ${text} || char(10) FROM (${versionsOf(resource)})
      WHERE ended IS NULL OR ended > @through ORDER BY id, first, changed, content`;
    const lines = sqlite.prepare<[{ through: number }], string>(left);
    const hash = new LinesHash();
    for (const line of lines.pluck().iterate({ through })) {
      hash.add(line);
      if (slice.isOver) await slice.next();
    }
    kept.push({ resource, count: hash.count, hash: hash.digest() });
  }
  return kept;
}

/**
 * Finds what the mirror lacks of what the newest pruning, upgrade or rebuild says was kept of earlier runs. The sums of an upgrade and
 * of a rebuild hold until a later pruning, the hashes of a pruning until a later pruning or rebuild.
 */
export async function lossesOfKept(sqlite: Sqlite, slice: TimeSlice) {
  const others = `SELECT leaf_index AS leafIndex, receipt AS text, (SELECT coalesce(max(run_id), 0) FROM sync_receipts AS run
      WHERE run.leaf_index < other.leaf_index) AS lastRunId
    FROM sync_receipts AS other WHERE run_id IS NULL ORDER BY leaf_index DESC`;
  const receipts = allRows<{ leafIndex: number; text: string; lastRunId: number }>(sqlite, others);
  const losses: { leafIndex: number; resource: Resource; kind: Receipt['kind']; throughRunId: number }[] = [];
  let isNewest = true;
  for (const { leafIndex, text: said, lastRunId } of receipts) {
    // A receipt that can't be read is reported elsewhere.
    const receipt = receiptOrNull(said);
    if (receipt === null || !('kept' in receipt || receipt.kind === 'prune')) continue;
    const isPruning = receipt.kind === 'prune';
    const throughRunId = isPruning ? (receipt.throughRunId ?? 0) : lastRunId;
    let found: readonly object[] = [];
    if (isPruning && keptBy(receipt) === 'hash') found = await keptHashes(sqlite, throughRunId, slice);
    if (!isPruning && isNewest) found = keptSums(sqlite, lastRunId);
    const stated = new Set(receipt.kept?.map(each => JSON.stringify(inOrder(each))));
    for (const each of found as readonly { readonly resource: Resource }[])
      if (!stated.has(JSON.stringify(inOrder(each))))
        losses.push({ leafIndex, resource: each.resource, kind: receipt.kind, throughRunId });
    if (receipt.kind !== 'upgrade') break;
    isNewest = false;
  }
  return losses;
}

function inOrder(value: object) {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** How the receipt of a pruning says what it left: by hashes; by sums, as docmirror 0.3 wrote them; or not at all, as 0.4 did. */
export function keptBy({ kept, throughRunId }: Pruning): 'hash' | 'sum' | 'nothing' {
  if (kept === undefined) return 'nothing';
  return throughRunId !== undefined && kept.every(each => 'hash' in each) ? 'hash' : 'sum';
}

/** How messages call a receipt that says what was kept. */
export function nameOf(kind: Receipt['kind']): string {
  return kind === 'prune' ? 'newest pruning' : `newest ${kind}`;
}
