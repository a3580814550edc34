import type Database from 'better-sqlite3';

/** Finds the UUID of a mirror; null where it has none yet. */
export type MirrorIdReader = (sqlite: Database.Database) => string | null;

/** By the first receipt: every receipt names the mirror. */
export const mirrorIdOfReceipts: MirrorIdReader = sqlite =>
  sqlite
    .prepare<[], string | null>(
      "SELECT receipt ->> '$.mirrorId' FROM sync_receipts ORDER BY leaf_index LIMIT 1",
    )
    .pluck()
    .get() ?? null;
