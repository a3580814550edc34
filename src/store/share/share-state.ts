import type Database from 'better-sqlite3';
import { lists } from '../../contract/lists.ts';
import { firstValue } from '../tables/query.ts';

/**
 * What a mirror's ended runs came to, as a short text, in a mirror as in a share of it: as long as it is the same, a share that is made
 * now would tell nothing else of the records than the one that is there.
 */
export function stateText(sqlite: Database.Database): string {
  return firstValue<string>(sqlite, selectState) as string;
}

/** The tables whose rows name the run that wrote them. */
const keptTables = [...lists.map(({ table }) => table), 'connections'];

// What changes records without a run, such as pruning, has a receipt of no run.
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
