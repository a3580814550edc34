import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { keptResources, lists } from '../../contract/lists.ts';
import { Fingerprints, fingerprintedTables, fingerprintSum } from './fingerprints.ts';
import { noteLastGiven, numberedLists, sequences } from './given-numbers.ts';

/** Every sum that a mirror keeps of its tables, from its birth on: by table, and by what of it. */
export const keptSums: readonly (readonly [table: string, resource: string])[] = [
  ...lists.map(({ table, resource }) => [table, resource] as const),
  ['connections', 'connections'],
  ...keptResources.map(resource => ['record_history', resource] as const),
  ...fingerprintedTables.map(table => [table, fingerprintSum] as const),
  ['sync_receipts', 'leaves'],
  ...keptResources.map(resource => ['before_pruning', resource] as const),
  ...numberedLists.map(({ resource }) => [sequences, resource] as const),
];

/**
 * Gives a file whose tables were just made, or have just changed, what goes with them: triggers, the mirror's own id, sums and
 * fingerprints. What is there already stays as it is. To be called in the transaction that changes the tables.
 */
export function completeMirror(sqlite: Database.Database): void {
  createTriggers(sqlite);
  if (sqlite.prepare('SELECT 1 FROM _mirror').get() !== undefined) return;
  sqlite.prepare('INSERT INTO _mirror (mirror_id) VALUES (?)').run(randomUUID());
  const insertSum = sqlite.prepare(
    'INSERT OR IGNORE INTO _content_sums (table_name, resource, record_count, digest) VALUES (?, ?, 0, ?)',
  );
  for (const [table, resource] of keptSums) insertSum.run(table, resource, '0'.repeat(32));
  for (const list of numberedLists) noteLastGiven(sqlite, list);
  for (const table of fingerprintedTables) new Fingerprints(sqlite, table).setAll();
}

/** A receipt states what a run found and did; who could change it by mistake would take its worth. */
const receiptsStand =
  'A receipt never changes: the log and every checkpoint rest on it. docs/audit.md says why.';

/** When each trigger that a mirror has refuses, by its name; `verify` finds any other one, and one that is gone. */
const triggers = {
  sync_receipts_stay: 'BEFORE UPDATE ON sync_receipts',
  sync_receipts_are_kept: 'BEFORE DELETE ON sync_receipts',
  // Of a row that INSERT OR REPLACE puts in the place of another one, SQLite tells no other trigger.
  sync_receipts_are_new: `BEFORE INSERT ON sync_receipts
    WHEN EXISTS (SELECT 1 FROM sync_receipts WHERE leaf_index = NEW.leaf_index OR run_id = NEW.run_id)`,
};

/** Makes the triggers of a mirror anew; to be called after its tables were made or have changed. */
function createTriggers(sqlite: Database.Database): void {
  for (const [name, when] of Object.entries(triggers)) {
    sqlite.exec(`DROP TRIGGER IF EXISTS ${name};
      CREATE TRIGGER ${name} ${when} BEGIN SELECT RAISE(ABORT, '${receiptsStand}'); END`);
  }
}
