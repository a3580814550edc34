import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';

/**
 * Adds the triggers and the mirror's own id to a file whose tables were just made or changed. To be called in the transaction that
 * changes the tables.
 */
export function completeMirror(sqlite: Database.Database): void {
  createTriggers(sqlite);
  if (mirrorIds(sqlite).length === 0) sqlite.prepare('INSERT INTO _mirror VALUES (?)').run(randomUUID());
}

/** The ids of the mirror in a file: one, unless somebody changed the table. */
export function mirrorIds(sqlite: Database.Database): string[] {
  return sqlite.prepare<[], string>('SELECT mirror_id FROM _mirror').pluck().all();
}

/** A receipt states what a run found and did. It would be worth nothing if it could be changed by mistake. */
const receiptsStand =
  'A receipt never changes: the log and every checkpoint rest on it. docs/audit.md says why.';

/** The condition of each trigger of a mirror, by its name; `verify` reports a missing one and any other one. */
const triggers = {
  sync_receipts_stay: 'BEFORE UPDATE ON sync_receipts',
  sync_receipts_are_kept: 'BEFORE DELETE ON sync_receipts',
  // INSERT OR REPLACE fires no other trigger for the row that it replaces.
  sync_receipts_are_new: `BEFORE INSERT ON sync_receipts
    WHEN EXISTS (SELECT 1 FROM sync_receipts WHERE leaf_index = NEW.leaf_index OR run_id = NEW.run_id)`,
};

/** Makes the triggers of a mirror again; to be called after its tables were made or changed. */
function createTriggers(sqlite: Database.Database): void {
  for (const [name, when] of Object.entries(triggers)) {
    sqlite.exec(`DROP TRIGGER IF EXISTS ${name};
      CREATE TRIGGER ${name} ${when} BEGIN SELECT RAISE(ABORT, '${receiptsStand}'); END`);
  }
}
