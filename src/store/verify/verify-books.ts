import { and, eq, getTableName, gt, isNotNull, lte, sql } from 'drizzle-orm';
import { keptResources, lists, timeColumnOf } from '../../contract/lists.ts';
import { hash16 } from '../../contract/sum.ts';
import { keptByOthers } from '../receipts/kept-sums.ts';
import { ListTable } from '../tables/list-table.ts';
import { firstValue } from '../tables/query.ts';
import {
  listStates,
  pages,
  recordHistory,
  rejectedRecords,
  syncReceipts,
  syncRunResources,
} from '../tables/schema.ts';
import { prepare, prepareValue, select } from '../tables/statement.ts';
import { wroteList } from '../tables/written-lists.ts';
import { ListMemory } from '../write/memory.ts';
import type { Audit } from './verify-list.ts';

/**
 * Checks everything that is not in the rows of lists: places in arrays, texts of rejected records, shortcuts, upgrades, and what a
 * pruning, an upgrade or a rebuild left.
 */
export function verifyBooks(audit: Audit): void {
  verifyPlaces(audit);
  verifyRejected(audit);
  verifyMemory(audit);
  verifyUpgrades(audit);
  verifyKept(audit);
  verifyPruned(audit);
}

function verifyPlaces({ sqlite, differences }: Audit): void {
  for (const list of lists) {
    for (const { table, id } of new ListTable(sqlite, list).rowsWithGaps())
      differences.add(table, id, 'the positions have a gap');
    for (const id of new ListTable(sqlite, list).rowsWithOtherTimes())
      differences.add(list.table, id, `${timeColumnOf(list)} is not the time of the record`);
  }
}

/** The receipts cover the content hash of each rejected record. This compares the text with that hash. */
function verifyRejected({ sqlite, differences }: Audit): void {
  const of = rejectedRecords;
  const rows = prepare(sqlite, () =>
    select({ id: of.id, record: sql<string>`${of.record}`, content: of.content })
      .from(of)
      .where(isNotNull(of.record)),
  );
  for (const { id, record, content } of rows.iterate())
    if (!hash16(record).equals(content))
      differences.add('rejected_records', id, 'the text and its content disagree');
}

function verifyMemory({ sqlite, differences, summedAfter }: Audit): void {
  for (const { resource } of lists) {
    for (const { table, what } of new ListMemory(sqlite, resource).misfits())
      differences.add(table, null, what);
    const isWritten = firstValue(sqlite, wroteSince, resource, summedAfter);
    const hasState = firstValue(sqlite, stateOf, resource);
    if (isWritten !== undefined && hasState === undefined) {
      differences.add('_list_states', null, `${resource}: the row is missing`);
    }
  }
  for (const table of [pages, listStates, recordHistory, syncRunResources, rejectedRecords]) {
    const ofOthers = () =>
      select({ resource: table.resource })
        .from(table)
        .where(sql`${table.resource} not in ${keptResources}`)
        .limit(1);
    const strange = firstValue(sqlite, ofOthers);
    const words = 'it names a list that docmirror does not know; no run reads or removes this row';
    if (strange !== undefined) differences.add(getTableName(table), null, words);
  }
}

function wroteSince(resource: string, runId: number) {
  const of = syncRunResources;
  return select({ runId: of.runId })
    .from(of)
    .where(and(eq(of.resource, resource), gt(of.runId, runId), isNotNull(of.checksum), wroteList))
    .limit(1);
}

function stateOf(resource: string) {
  return select({ runId: listStates.runId }).from(listStates).where(eq(listStates.resource, resource));
}

/** Each upgrade is in a table for people and in a receipt. */
function verifyUpgrades({ sqlite, differences }: Audit): void {
  // By hand: a table that is not in the schema.
  const all = sqlite.prepare<[], string>(
    "SELECT version || ' at ' || upgraded_at FROM docmirror_upgrades ORDER BY rowid",
  );
  const rows = all.pluck().all();
  const { receipt, leafIndex } = syncReceipts;
  const said = sql<string>`(${receipt} ->> 'docmirrorVersion') || ' at ' || (${receipt} ->> 'at')`;
  const receipts = prepareValue(sqlite, () =>
    select({ said })
      .from(syncReceipts)
      .where(sql`iif(json_valid(${receipt}), ${receipt} ->> 'kind', '') = 'upgrade'`)
      .orderBy(leafIndex),
  ).all();
  for (let at = 0; at < Math.max(rows.length, receipts.length); at++) {
    if (rows[at] === receipts[at]) continue;
    const words = `${rows[at] ?? 'no row'}, but the receipt says ${receipts[at] ?? 'of no upgrade'}`;
    differences.add('docmirror_upgrades', null, words);
  }
}

/** Checks which runs wrote the versions that are left from the time without changes hashes. */
function verifyKept({ sqlite, differences }: Audit): void {
  const { throughRunId, resources } = keptByOthers(sqlite);
  for (const resource of resources) {
    const words = `${resource}: which runs wrote the records up to run ${throughRunId} is not what the receipt of the newest pruning, upgrade or rebuild says`;
    differences.add('sync_receipts', null, words, 'content');
  }
}

/** Reports ended versions that a pruning should have deleted: no receipt covers them, so anybody could have added them. */
function verifyPruned({ sqlite, differences, prunedThrough }: Audit): void {
  const of = recordHistory;
  const rows = prepare(sqlite, (through: number) =>
    select({ id: of.id, resource: of.resource, recordId: of.recordId, runId: of.validToRunId })
      .from(of)
      .where(lte(of.validToRunId, through))
      .orderBy(of.id),
  );
  for (const { id, resource, recordId, runId } of rows.iterate(prunedThrough)) {
    const words = `${resource} ${recordId}: it ended with run ${runId}, but versions up to run ${prunedThrough} were deleted`;
    differences.add('record_history', id, words);
  }
}
