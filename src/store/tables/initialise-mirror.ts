import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { mirror } from './schema.ts';
import { prepareInsert, prepareValue, select } from './statement.ts';

/**
 * Gives a file whose tables were just made, or have just changed, what goes with them: triggers and the mirror's own id. To be called
 * in the transaction that changes the tables.
 */
export function completeMirror(sqlite: Database.Database): void {
  createTriggers(sqlite);
  if (mirrorIds(sqlite).length === 0) prepareInsert(sqlite, mirror, 'mirrorId').run(randomUUID());
}

/** The ids that a file has for its mirror: one, if nobody changed the table. */
export function mirrorIds(sqlite: Database.Database): string[] {
  return prepareValue(sqlite, () => select({ id: mirror.mirrorId }).from(mirror)).all();
}

/** A receipt states what a run found and did; if it could be changed by mistake, it would be worth nothing. */
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
    // By hand: triggers, of which Drizzle knows nothing.
    sqlite.exec(`DROP TRIGGER IF EXISTS ${name};
      CREATE TRIGGER ${name} ${when} BEGIN SELECT RAISE(ABORT, '${receiptsStand}'); END`);
  }
}
