import type Database from 'better-sqlite3';
import { receiptOrNull } from '../../audit/read-receipt.ts';
import type { KeptSum } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { hash16, Sum } from '../../contract/sum.ts';
import { firstValue } from '../tables/query.ts';
import { ChangesOfRuns } from './changes-of-runs.ts';
import { ErasedHashes } from './erased.ts';
import { type Kept, readKept, readPruned } from './pruned.ts';

// Of runs whose ended versions were deleted, and of runs before an upgrade or a rebuild, no changes hash can be computed. The sums here
// take its place: over which runs first saw and wrote each version that is left, and what it says; if it had ended by the upgrade or the
// rebuild, also over how. A row that is updated later moves into the history with the same numbers and the same content, so a sum stays
// as it is until more is deleted.

/** The sums that a pruning up to a run leaves, by those that were kept before. */
export function keptAfterPruning(sqlite: Database.Database, before: Kept, pruned: number): KeptSum[] {
  const from = before.throughRunId;
  const through = Math.max(from, pruned);
  const { deletedThroughRunId, settledRunId } = before;
  return keptResources.map(resource => {
    const ofVersions = (began: Span, ended: Span) =>
      sumOfVersions(sqlite, resource, { began, ended, settledRunId });
    const kept = sumIn(before.sums, resource)
      .minus(ofVersions([0, from], [deletedThroughRunId, pruned]))
      .plus(sumOfRows(sqlite, resource, [from, through]))
      .plus(ofVersions([from, through], [pruned, Number.MAX_SAFE_INTEGER]));
    return { resource, count: kept.count, sum: kept.toString() };
  });
}

/** The sums that an upgrade or a rebuild leaves, by the rows and versions as they are then. */
export function keptNow(sqlite: Database.Database): KeptSum[] {
  const throughRunId = firstValue<number | null>(sqlite, 'SELECT max(run_id) FROM sync_receipts') ?? 0;
  const deletedThroughRunId = readPruned(sqlite).throughRunId;
  return keptResources.map(resource => {
    const kept = keptByRows(sqlite, resource, {
      throughRunId,
      deletedThroughRunId,
      settledRunId: throughRunId,
    });
    return { resource, count: kept.count, sum: kept.toString() };
  });
}

/** What the sum of a resource comes to by its rows and versions. */
export function keptByRows(
  sqlite: Database.Database,
  resource: KeptSum['resource'],
  { throughRunId, deletedThroughRunId, settledRunId }: Omit<Kept, 'sums'>,
): Sum {
  const began: Span = [0, throughRunId];
  const ended: Span = [deletedThroughRunId, Number.MAX_SAFE_INTEGER];
  return sumOfRows(sqlite, resource, began).plus(
    sumOfVersions(sqlite, resource, { began, ended, settledRunId }),
  );
}

/** Runs after one and up to another. */
type Span = readonly [after: number, through: number];

/** The sum of a resource in a receipt; of nothing if it is not there. */
function sumIn(kept: readonly KeptSum[], resource: KeptSum['resource']): Sum {
  const found = kept.find(each => each.resource === resource);
  return found === undefined ? new Sum() : Sum.from(found.count, found.sum);
}

/** Over the rows that some runs wrote. */
function sumOfRows(sqlite: Database.Database, resource: string, wrote: Span): Sum {
  const rows = sqlite
    .prepare<[number, number], string>(
      `SELECT id || ' ' || _first_seen_run_id || ' ' || _changed_run_id || ' ' || lower(hex(_content))
       FROM ${tableOf(resource)} WHERE _changed_run_id > ? AND _changed_run_id <= ?`,
    )
    .pluck();
  return sumOf(rows.iterate(...wrote));
}

/** Over the versions that began with some runs and ended with some. */
function sumOfVersions(
  sqlite: Database.Database,
  resource: string,
  { began, ended, settledRunId }: { began: Span; ended: Span } & Pick<Kept, 'settledRunId'>,
): Sum {
  const versions = sqlite
    .prepare<[number, string, number, number, number, number], string>(
      `SELECT record_id || ' ' || first_seen_run_id || ' ' || valid_from_run_id || ' ' || lower(hex(content)) ||
         iif(valid_to_run_id <= ?, ' ' || valid_to_run_id || ' ' || ended_by, '')
       FROM record_history
       WHERE +resource = ? AND valid_from_run_id > ? AND valid_from_run_id <= ?
         AND valid_to_run_id > ? AND valid_to_run_id <= ?`,
    )
    .pluck();
  return sumOf(versions.iterate(settledRunId, resource, ...began, ...ended));
}

function sumOf(versions: Iterable<string>): Sum {
  const sum = new Sum();
  for (const version of versions) sum.add(hash16(version));
  return sum;
}

/** Whether what runs after one and up to another changed is, by rows and history, what their receipts say of it. */
export function areAsReceipted(sqlite: Database.Database, after: number, through: number): boolean {
  const receipts = sqlite
    .prepare<[number, number], [runId: number, receipt: string]>(
      'SELECT run_id, receipt FROM sync_receipts WHERE run_id > ? AND run_id <= ?',
    )
    .raw()
    .all(after, through);
  const erased = new ErasedHashes(sqlite);
  return keptResources.every(resource => {
    const changes = new ChangesOfRuns(sqlite, resource);
    return receipts.every(([runId, text]) => {
      const receipt = receiptOrNull(text);
      const said =
        receipt?.kind === 'run' ? receipt.lists.find(list => list.resource === resource) : undefined;
      const found = changes.of(runId);
      return said === undefined
        ? found.count === 0
        : found.changes === said.changes && found.ended === (erased.of(resource, runId) ?? said.ended);
    });
  });
}

/** The lists of which the rows and versions are by other runs than the receipt of the newest pruning, upgrade or rebuild says. */
export function keptByOthers(sqlite: Database.Database): { throughRunId: number; resources: string[] } {
  const { sums, ...kept } = readKept(sqlite);
  const resources = keptResources.filter(
    resource => kept.throughRunId > 0 && !keptByRows(sqlite, resource, kept).equals(sumIn(sums, resource)),
  );
  return { throughRunId: kept.throughRunId, resources };
}
