import type Database from 'better-sqlite3';
import { and, gt, lte, max, sql } from 'drizzle-orm';
import { type KeptSum, receiptOrNull } from '../../audit/receipt.ts';
import { keptResources } from '../../contract/lists.ts';
import { hash16, Sum } from '../../contract/sum.ts';
import { firstValue } from '../tables/query.ts';
import { rowsTable } from '../tables/rows-table.ts';
import { recordHistory, syncReceipts } from '../tables/schema.ts';
import { hexOf, prepare, prepareValue, select } from '../tables/statement.ts';
import { ChangesOfRuns } from './changes-of-runs.ts';
import { ErasedHashes } from './erased.ts';
import { type Kept, readKept, readPruned } from './pruned.ts';

// No changes hash can be computed for runs whose ended versions were deleted, or for runs before an upgrade or a rebuild. The sums
// here replace it. They cover each version that is left: its content, and the runs that first saw it and wrote it. If it had ended
// by the upgrade or the rebuild, they also cover how it ended. A row that is updated later moves into the history with the same
// numbers and the same content. So a sum stays the same until more is deleted.

/** The sums after a pruning up to a run, computed from the sums that were kept before. */
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

/** The sums after an upgrade or a rebuild, computed from the rows and versions at that time. */
export function keptNow(sqlite: Database.Database): KeptSum[] {
  const throughRunId = firstValue(sqlite, lastReceipted) ?? 0;
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

function lastReceipted() {
  return select({ runId: max(syncReceipts.runId) }).from(syncReceipts);
}

/** The sum of a resource, recomputed from its rows and versions. */
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

/** The sum of a resource in a receipt; an empty sum if the receipt does not have it. */
function sumIn(kept: readonly KeptSum[], resource: KeptSum['resource']): Sum {
  const found = kept.find(each => each.resource === resource);
  return found === undefined ? new Sum() : Sum.from(found.count, found.sum);
}

/** The sum over the rows that some runs wrote. */
function sumOfRows(sqlite: Database.Database, resource: string, wrote: Span): Sum {
  const { id, firstSeenRunId, changedRunId, content } = rowsTable(resource);
  const text = sql<string>`${id} || ' ' || ${firstSeenRunId} || ' ' || ${changedRunId} || ' ' || ${hexOf(content)}`;
  const rows = prepareValue(sqlite, (after: number, through: number) =>
    select({ text })
      .from(rowsTable(resource))
      .where(and(gt(changedRunId, after), lte(changedRunId, through))),
  );
  return sumOf(rows.iterate(...wrote));
}

/** The sum over the versions that began with some runs and ended with some. */
function sumOfVersions(
  sqlite: Database.Database,
  resource: string,
  { began, ended, settledRunId }: { began: Span; ended: Span } & Pick<Kept, 'settledRunId'>,
): Sum {
  const of = recordHistory;
  const versions = prepareValue(
    sqlite,
    (
      settled: number,
      list: string,
      beganAfter: number,
      beganBy: number,
      endedAfter: number,
      endedBy: number,
    ) => {
      const end = sql`iif(${of.validToRunId} <= ${settled}, ' ' || ${of.validToRunId} || ' ' || ${of.endedBy}, '')`;
      return select({
        text: sql<string>`${of.recordId} || ' ' || ${of.firstSeenRunId} || ' ' || ${of.validFromRunId} || ' ' || ${hexOf(of.content)} || ${end}`,
      })
        .from(of)
        .where(
          and(
            sql`+${of.resource} = ${list}`,
            gt(of.validFromRunId, beganAfter),
            lte(of.validFromRunId, beganBy),
            gt(of.validToRunId, endedAfter),
            lte(of.validToRunId, endedBy),
          ),
        );
    },
  );
  return sumOf(versions.iterate(settledRunId, resource, ...began, ...ended));
}

function sumOf(versions: Iterable<string>): Sum {
  const sum = new Sum();
  for (const version of versions) sum.add(hash16(version));
  return sum;
}

/** Whether the changes of the runs after one and up to another are, by rows and history, those in their receipts. */
export function areAsReceipted(sqlite: Database.Database, after: number, through: number): boolean {
  const { runId: run, receipt: stored } = syncReceipts;
  const receipts = prepare(sqlite, (from: number, to: number) =>
    select({ runId: sql<number>`${run}`, text: stored })
      .from(syncReceipts)
      .where(and(gt(run, from), lte(run, to))),
  ).all(after, through);
  const erased = new ErasedHashes(sqlite);
  return keptResources.every(resource => {
    const changes = new ChangesOfRuns(sqlite, resource);
    return receipts.every(({ runId, text }) => {
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

/** The lists whose rows and versions are by other runs than the receipt of the newest pruning, upgrade or rebuild says. */
export function keptByOthers(sqlite: Database.Database): { throughRunId: number; resources: string[] } {
  const { sums, ...kept } = readKept(sqlite);
  const resources = keptResources.filter(
    resource => kept.throughRunId > 0 && !keptByRows(sqlite, resource, kept).equals(sumIn(sums, resource)),
  );
  return { throughRunId: kept.throughRunId, resources };
}
