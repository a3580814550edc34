import { keptResources, lists } from '../../contract/lists.ts';
import { hash16 } from '../../contract/sum.ts';
import { keptByOthers } from '../receipts/kept-sums.ts';
import { ListTable } from '../tables/list-table.ts';
import { firstValues } from '../tables/query.ts';
import { wroteList } from '../tables/written-lists.ts';
import { ListMemory } from '../write/list-memory.ts';
import type { Audit } from './verify-list.ts';

/** Checks what no row of a list says: places in arrays, texts of rejected records, shortcuts, upgrades, what a pruning, an upgrade or a rebuild left. */
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
  }
}

/** The receipts are over the content of each rejected record; here the text is compared with its content. */
function verifyRejected({ sqlite, differences }: Audit): void {
  const rows = sqlite.prepare<[], { id: number; record: string; content: Buffer }>(
    'SELECT id, record, content FROM rejected_records WHERE record IS NOT NULL',
  );
  for (const { id, record, content } of rows.iterate())
    if (!hash16(record).equals(content))
      differences.add('rejected_records', id, 'the text and its content disagree');
}

function verifyMemory({ sqlite, differences, summedAfter }: Audit): void {
  for (const { resource } of lists) {
    for (const { table, what } of new ListMemory(sqlite, resource).misfits())
      differences.add(table, null, what);
    const isWritten = sqlite
      .prepare(
        `SELECT 1 FROM sync_run_resources WHERE resource = ? AND run_id > ? AND checksum IS NOT NULL AND ${wroteList} LIMIT 1`,
      )
      .get(resource, summedAfter);
    const hasState = sqlite.prepare('SELECT 1 FROM _list_states WHERE resource = ?').get(resource);
    if (isWritten !== undefined && hasState === undefined) {
      differences.add('_list_states', null, `${resource}: the row is missing`);
    }
  }
  const names = keptResources.map(name => `'${name}'`).join(', ');
  for (const table of [
    '_pages',
    '_list_states',
    'record_history',
    'sync_run_resources',
    'rejected_records',
  ]) {
    const strange = sqlite.prepare(`SELECT 1 FROM ${table} WHERE resource NOT IN (${names}) LIMIT 1`).get();
    const words = 'it names a list that docmirror does not know; no run reads or removes this row';
    if (strange !== undefined) differences.add(table, null, words);
  }
}

/** Each upgrade is in a table for people and in a receipt. */
function verifyUpgrades({ sqlite, differences }: Audit): void {
  const rows = firstValues<string>(
    sqlite,
    "SELECT version || ' at ' || upgraded_at FROM docmirror_upgrades ORDER BY rowid",
  );
  const receipts = firstValues<string>(
    sqlite,
    `SELECT (receipt ->> 'docmirrorVersion') || ' at ' || (receipt ->> 'at') FROM sync_receipts
     WHERE iif(json_valid(receipt), receipt ->> 'kind', '') = 'upgrade' ORDER BY leaf_index`,
  );
  for (let at = 0; at < Math.max(rows.length, receipts.length); at++) {
    if (rows[at] === receipts[at]) continue;
    const words = `${rows[at] ?? 'no row'}, but the receipt says ${receipts[at] ?? 'of no upgrade'}`;
    differences.add('docmirror_upgrades', null, words);
  }
}

/** Checks which runs wrote what is left of the time of which no changes hash can be computed. */
function verifyKept({ sqlite, differences }: Audit): void {
  const { throughRunId, resources } = keptByOthers(sqlite);
  for (const resource of resources) {
    const words = `${resource}: which runs wrote the records up to run ${throughRunId} is not what the receipt of the newest pruning, upgrade or rebuild says`;
    differences.add('sync_receipts', null, words, 'content');
  }
}

/** What a pruning deleted has no hash any more, so what is there all the same is by nobody. */
function verifyPruned({ sqlite, differences, prunedThrough }: Audit): void {
  const rows = sqlite.prepare<[number], { id: number; resource: string; recordId: number; runId: number }>(
    `SELECT id, resource, record_id AS recordId, valid_to_run_id AS runId FROM record_history
     WHERE valid_to_run_id <= ? ORDER BY id`,
  );
  for (const { id, resource, recordId, runId } of rows.iterate(prunedThrough)) {
    const words = `${resource} ${recordId}: it ended with run ${runId}, but versions up to run ${prunedThrough} were deleted`;
    differences.add('record_history', id, words);
  }
}
