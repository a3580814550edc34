import type Database from 'better-sqlite3';
import { receiptOrNull } from '../../audit/read-receipt.ts';
import type { KeptSum } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { hash16, Sum } from '../../contract/sum.ts';
import { firstValue } from '../tables/query.ts';
import { ChangesOfRuns } from './changes-of-runs.ts';
import { ErasedHashes } from './erased.ts';
import { type Kept, readKept } from './pruned.ts';

// Of runs whose ended versions were deleted, and of runs before an upgrade, no changes hash can be computed. The sums here take its place: over which runs first saw
// and wrote each version that is left, and what it says. A row that is updated later moves into the history with the same numbers
// and the same content, so a sum stays as it is until more is deleted.

/** A record's version by the runs that it names, and its content. */
type Version = [recordId: number, firstSeenRunId: number, fromRunId: number, content: string];

/** The sums that a pruning up to a run leaves, by those that were kept before. */
export function keptAfterPruning(sqlite: Database.Database, before: Kept, pruned: number): KeptSum[] {
  const from = before.throughRunId;
  const through = Math.max(from, pruned);
  return keptResources.map(resource => {
    const kept = sumIn(before.sums, resource)
      .minus(sumOfVersions(sqlite, resource, { began: [0, from], ended: [from, through] }))
      .plus(sumOfRows(sqlite, resource, from, through))
      .plus(
        sumOfVersions(sqlite, resource, {
          began: [from, through],
          ended: [through, Number.MAX_SAFE_INTEGER],
        }),
      );
    return { resource, count: kept.count, sum: kept.toString() };
  });
}

/** The sums that an upgrade leaves, by the rows and versions as they are then. */
export function keptAtUpgrade(sqlite: Database.Database): KeptSum[] {
  const through = firstValue<number | null>(sqlite, 'SELECT max(run_id) FROM sync_receipts') ?? 0;
  return keptResources.map(resource => {
    const kept = keptByRows(sqlite, resource, through);
    return { resource, count: kept.count, sum: kept.toString() };
  });
}

/** What the sum of a resource comes to by its rows and versions, over runs up to one. */
export function keptByRows(sqlite: Database.Database, resource: KeptSum['resource'], through: number): Sum {
  const left = { began: [0, through], ended: [through, Number.MAX_SAFE_INTEGER] } as const;
  return sumOfRows(sqlite, resource, 0, through).plus(sumOfVersions(sqlite, resource, left));
}

/** The sum of a resource in a receipt; of nothing if it is not there. */
function sumIn(kept: readonly KeptSum[], resource: KeptSum['resource']): Sum {
  const found = kept.find(each => each.resource === resource);
  return found === undefined ? new Sum() : Sum.from(found.count, found.sum);
}

/** Over the rows that runs after one and up to another wrote. */
function sumOfRows(sqlite: Database.Database, resource: string, after: number, through: number): Sum {
  const rows = sqlite
    .prepare<[number, number], Version>(
      `SELECT id, _first_seen_run_id, _changed_run_id, lower(hex(_content)) FROM ${tableOf(resource)}
       WHERE _changed_run_id > ? AND _changed_run_id <= ?`,
    )
    .raw();
  return sumOf(rows.iterate(after, through));
}

/** Over the versions that began after one run and up to another, and ended after one and up to another. */
function sumOfVersions(
  sqlite: Database.Database,
  resource: string,
  { began, ended }: { readonly began: readonly [number, number]; readonly ended: readonly [number, number] },
): Sum {
  const versions = sqlite
    .prepare<[string, number, number, number, number], Version>(
      `SELECT record_id, first_seen_run_id, valid_from_run_id, lower(hex(content)) FROM record_history
       WHERE +resource = ? AND valid_from_run_id > ? AND valid_from_run_id <= ?
         AND valid_to_run_id > ? AND valid_to_run_id <= ?`,
    )
    .raw();
  return sumOf(versions.iterate(resource, ...began, ...ended));
}

function sumOf(versions: Iterable<Version>): Sum {
  const sum = new Sum();
  for (const version of versions) sum.add(hash16(version.join(' ')));
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

/** The lists of which the rows and versions are by other runs than the receipt of the newest pruning or upgrade says. */
export function keptByOthers(sqlite: Database.Database): { throughRunId: number; resources: string[] } {
  const { throughRunId, sums } = readKept(sqlite);
  const resources = keptResources.filter(
    resource => throughRunId > 0 && !keptByRows(sqlite, resource, throughRunId).equals(sumIn(sums, resource)),
  );
  return { throughRunId, resources };
}
