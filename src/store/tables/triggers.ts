import type Database from 'better-sqlite3';

/** A receipt states what a run found and did; who could change it by mistake would take its worth. */
const receiptsStand =
  'A receipt never changes: the log and every checkpoint rest on it. docs/audit.md says why.';

/** Every trigger that a mirror has, by name; `verify` finds any other one, and one that is gone. */
const triggers: readonly (readonly [name: string, sql: string])[] = [
  [
    'sync_receipts_stay',
    `CREATE TRIGGER sync_receipts_stay BEFORE UPDATE ON sync_receipts
     BEGIN SELECT RAISE(ABORT, '${receiptsStand}'); END`,
  ],
  [
    'sync_receipts_are_kept',
    `CREATE TRIGGER sync_receipts_are_kept BEFORE DELETE ON sync_receipts
     BEGIN SELECT RAISE(ABORT, '${receiptsStand}'); END`,
  ],
  [
    // Of a row that INSERT OR REPLACE puts in the place of another one, SQLite tells no other trigger.
    'sync_receipts_are_new',
    `CREATE TRIGGER sync_receipts_are_new BEFORE INSERT ON sync_receipts
     WHEN EXISTS (SELECT 1 FROM sync_receipts WHERE leaf_index = NEW.leaf_index OR run_id = NEW.run_id)
     BEGIN SELECT RAISE(ABORT, '${receiptsStand}'); END`,
  ],
];

/** Makes the triggers of a mirror anew; to be called after its tables were made or have changed. */
export function createTriggers(sqlite: Database.Database): void {
  for (const [name, sql] of triggers) sqlite.exec(`DROP TRIGGER IF EXISTS ${name}; ${sql}`);
}
