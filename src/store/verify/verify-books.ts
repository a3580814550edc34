import { keptResources, lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { sumThrough } from '../receipts/kept-provenance.ts';
import { readSummedThrough, readUpgradedThrough } from '../receipts/pruned.ts';
import { keptSums } from '../tables/birth.ts';
import { ContentSum } from '../tables/content-sums.ts';
import {
  type FingerprintedTable,
  Fingerprints,
  fingerprintedTables,
  fingerprintSum,
} from '../tables/fingerprints.ts';
import { greatestGiven, notedLastGiven, sequences } from '../tables/given-numbers.ts';
import { ListTable } from '../tables/list-table.ts';
import { firstValues } from '../tables/query.ts';
import { wroteList } from '../tables/written-lists.ts';
import { Shortcuts } from '../write/shortcuts.ts';
import { type Audit, compareSums } from './verify-list.ts';

/** Checks what docmirror keeps for itself: fingerprints, sums, places in arrays, numbers to come, shortcuts, upgrades, provenance. */
export function verifyBooks(audit: Audit): void {
  verifyFingerprints(audit);
  verifyKeptSums(audit);
  verifyPlaces(audit);
  verifySequences(audit);
  verifyShortcuts(audit);
  verifyUpgrades(audit);
  verifyPruned(audit);
}

function verifyFingerprints(audit: Audit): void {
  for (const table of fingerprintedTables) {
    const sum = new Fingerprints(audit.sqlite, table).check(rowId => addAltered(audit, table, rowId));
    compareSums(audit, table, fingerprintSum, sum);
  }
}

/** A list's record of a run is named by the run, for its row has no number that a person knows. */
function addAltered({ sqlite, differences }: Audit, table: FingerprintedTable, rowId: number): void {
  const what = 'the row was changed after docmirror wrote it';
  if (table !== 'sync_run_resources') {
    differences.add(table, rowId, what);
    return;
  }
  const named = sqlite
    .prepare<[number], { runId: number; resource: string }>(
      'SELECT run_id AS runId, resource FROM sync_run_resources WHERE rowid = ?',
    )
    .get(rowId);
  differences.add(table, named?.runId ?? null, `${named?.resource}: ${what}`);
}

/** A sum that is not there counts as one of nothing, so which sums there are is checked by itself. */
function verifyKeptSums({ sqlite, differences }: Audit): void {
  const names = "SELECT table_name || ' ' || resource FROM _content_sums";
  const found = firstValues<string>(sqlite, names);
  const kept = keptSums.map(key => key.join(' '));
  const odd = `${names} WHERE octet_length(digest) <> 32 OR digest GLOB '*[^0-9a-f]*'`;
  for (const name of firstValues<string>(sqlite, odd))
    differences.add('_content_sums', null, `the sum of ${name} is no sum`);
  for (const name of found) {
    if (!kept.includes(name)) differences.add('_content_sums', null, `docmirror keeps no sum of ${name}`);
  }
  for (const name of kept) {
    if (!found.includes(name)) differences.add('_content_sums', null, `the sum of ${name} is missing`);
  }
}

function verifyPlaces({ sqlite, differences }: Audit): void {
  for (const list of lists) {
    for (const { table, id } of new ListTable(sqlite, list).rowsWithGaps())
      differences.add(table, id, 'the positions have a gap');
  }
}

/** The numbers that rows get are never given twice. */
function verifySequences({ sqlite, differences }: Audit): void {
  const used = greatestGiven(sqlite);
  const noted = notedLastGiven(sqlite);
  const rows = sqlite
    .prepare<[], { name: string; seq: number; type: string }>(
      `SELECT name, seq, typeof(seq) AS type FROM ${sequences}`,
    )
    .all();
  for (const { name, seq, type } of rows) {
    if (type !== 'integer') differences.add(sequences, null, `${name}: what is counted is no integer`);
    const least = used.get(name);
    used.delete(name);
    const last = noted.get(name);
    const isNoted = last?.equals(Sum.from(seq, '')) ?? seq === least;
    // A name stands there once.
    if (least === undefined) differences.add(sequences, null, `${name}: ${seq}, but none was given`);
    else if (!isNoted || seq < least)
      differences.add(
        sequences,
        null,
        `${name}: ${seq}, but ${Math.max(least, last?.count ?? 0)} was given last`,
      );
  }
  for (const [name, least] of used) {
    const last = Math.max(least, noted.get(name)?.count ?? 0);
    if (last > 0) differences.add(sequences, null, `${name}: none, but ${last} was given last`);
  }
}

function verifyShortcuts({ sqlite, differences }: Audit): void {
  const upgradedThrough = readUpgradedThrough(sqlite);
  for (const { resource } of lists) {
    for (const { table, what } of new Shortcuts(sqlite, resource).misfits())
      differences.add(table, null, what);
    const isWritten = sqlite
      .prepare(
        `SELECT 1 FROM sync_run_resources
         WHERE resource = ? AND run_id > ? AND checksum IS NOT NULL AND ${wroteList} LIMIT 1`,
      )
      .get(resource, upgradedThrough);
    const hasState = sqlite.prepare('SELECT 1 FROM _list_states WHERE resource = ?').get(resource);
    if (isWritten !== undefined && hasState === undefined) {
      differences.add('_list_states', null, `${resource}: the row is missing`);
    }
  }
  const names = keptResources.map(name => `'${name}'`).join(', ');
  for (const table of [
    '_known_pages',
    '_list_states',
    'record_history',
    'sync_run_resources',
    'rejected_records',
  ]) {
    const strange = sqlite.prepare(`SELECT 1 FROM ${table} WHERE resource NOT IN (${names}) LIMIT 1`).get();
    if (strange !== undefined) differences.add(table, null, 'it names a list that docmirror does not know');
  }
}

/** Each upgrade stands in a table for people and in a receipt. */
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

/** Checks which runs wrote what is kept of the time whose ended versions were deleted, or before an upgrade. */
function verifyPruned({ sqlite, differences }: Audit): void {
  const through = readSummedThrough(sqlite);
  for (const resource of keptResources) {
    const found = sumThrough(sqlite, resource, through);
    if (found.equals(new ContentSum(sqlite, 'before_pruning', resource).stored())) continue;
    const words = `${resource}: which runs wrote the records up to run ${through} is not as docmirror kept it, or was altered before older versions were deleted`;
    differences.add('_content_sums', null, words);
  }
}
