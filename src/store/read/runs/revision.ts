import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';

/**
 * A short text that changes whenever a run or an erasure has changed the mirror, and only then. A run records every change in its
 * own row or in that of one of its lists, in the same transaction.
 */
export function revisionOf(sqlite: Database.Database): string {
  const newest = sqlite
    .prepare<[]>(
      `SELECT r.id, r.status, r.started_at, r.completed_at, r.base_url,
         (SELECT group_concat(l.resource || ' ' || l.status || ' ' || coalesce(l.checksum, ''), ';')
          FROM sync_run_resources l WHERE l.run_id = r.id) AS lists,
         (SELECT max(leaf_index) FROM sync_receipts) AS receipt
       FROM sync_runs r ORDER BY r.id DESC LIMIT 1`,
    )
    .raw();
  return createHash('sha256')
    .update(JSON.stringify(newest.get() ?? []))
    .digest('base64url')
    .slice(0, 20);
}
