import type Database from 'better-sqlite3';
import { lists } from '../../contract/lists.ts';

/**
 * The state of a mirror after its ended runs, as a short text that can be computed from the mirror and from a share of it. If both
 * texts are equal, a new share would have the same records.
 */
export function stateText(sqlite: Database.Database): string {
  return sqlite.prepare<[], string>(selectState).pluck().get() as string;
}

/** The tables whose rows name the run that wrote them. */
const keptTables = [...lists.map(({ table }) => table), 'connections'];

// A change of the file without a run, for example pruning, writes a receipt that names no run.
// By hand: one JSON text of many tables.
const selectState = `SELECT json_array(
  (SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1),
  (SELECT max(leaf_index) FROM sync_receipts WHERE run_id IS NULL),
  ${keptTables.map(table => `(SELECT max(_changed_run_id) FROM ${table})`).join(', ')},
  (SELECT max(valid_to_run_id) FROM record_history),
  (SELECT json_group_array(state) FROM (
    SELECT json_array(l.resource, l.status, l.completeness, l.record_count, l.checksum, l.rejected,
      l.removals_withheld, l.reason) AS state
    FROM sync_run_resources l
    JOIN (SELECT resource, max(run_id) AS run_id FROM sync_run_resources
          WHERE status <> 'running' GROUP BY resource) newest USING (resource, run_id)
    ORDER BY l.resource)))`;
