import type Database from 'better-sqlite3';
import type { Receipt } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { hash16, Sum } from '../../contract/sum.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { stateOf, sumOfContents } from './run-receipt.ts';

/** The receipts of a kind that no run writes. */
const ofKind = (kind: Receipt['kind']) =>
  `sync_receipts WHERE run_id IS NULL AND instr(receipt, '"kind":"${kind}"') > 0 AND json_valid(receipt)`;

/**
 * Reads how far back the history goes: the time up to which ended versions were deleted, null if none ever was, and the last run for
 * which it and all earlier runs had ended by then. The versions that these ended are gone. 0 if there is none.
 */
export function readPruned(sqlite: Database.Database) {
  // The clock of the pruning might have been ahead. Runs that ended after its receipt do not count, whatever their times are.
  const newest = sqlite
    .prepare<[], { before: string; lastRunId: number | null }>(
      `SELECT receipt ->> 'before' AS before, (SELECT min(run_id) - 1 FROM sync_receipts AS run WHERE run.leaf_index > prune.leaf_index) AS lastRunId
       FROM (SELECT * FROM ${ofKind('prune')} ORDER BY leaf_index DESC LIMIT 1) AS prune`,
    )
    .get();
  if (newest === undefined) return { before: null, throughRunId: 0 };
  const { before, lastRunId } = newest;
  const through = new EndedRuns(sqlite).lastOfAllBy(before);
  return { before, throughRunId: Math.min(through, lastRunId ?? through) };
}

/**
 * The last run before the newest rebuild or upgrade; 0 if there is none. The state of the mirror before a rebuild can't be read any
 * more. Receipts before an upgrade cover contents of another shape.
 */
export function lastRunBefore(sqlite: Database.Database, kind: 'rebuild' | 'upgrade'): number {
  const last = `SELECT max(run_id) FROM sync_receipts WHERE leaf_index < (SELECT max(leaf_index) FROM ${ofKind(kind)})`;
  return sqlite.prepare<[], number | null>(last).pluck().get() ?? 0;
}

/**
 * Reads the hashes of runs' receipts about lists. If versions of a list were erased, the receipt of the erasure has another `ended`.
 *
 * @returns a function that gives undefined if the receipt does not have the list.
 */
export function statedHashes(sqlite: Database.Database) {
  const hashes = sqlite.prepare<[{ runId: number; resource: string }], { changes: string; ended: string }>(
    `SELECT list.value ->> 'changes' AS changes, coalesce((
       SELECT erased.value ->> 'ended' FROM (SELECT * FROM ${ofKind('erase')}) AS erasure, json_each(erasure.receipt, '$.ended') AS erased
       WHERE erasure.receipt ->> 'resource' = @resource AND erased.value ->> 'runId' = @runId
       ORDER BY leaf_index DESC LIMIT 1), list.value ->> 'ended') AS ended
     FROM (SELECT * FROM sync_receipts WHERE run_id = @runId AND json_valid(receipt)) AS run, json_each(run.receipt, '$.lists') AS list
     WHERE list.value ->> 'resource' = @resource`,
  );
  return (runId: number, resource: string) => hashes.get({ runId, resource });
}

/**
 * What the receipt of an upgrade or a rebuild states of the present lists.
 *
 * @param exceptRunId rows that this run wrote are left out of the lists; 0 for all rows.
 */
export function acceptedNow(sqlite: Database.Database, exceptRunId = 0) {
  const last = sqlite.prepare<[], number | null>('SELECT max(run_id) FROM sync_receipts').pluck().get() ?? 0;
  const stated = keptResources.map(each => stateOf(each, sumOfContents(sqlite, each, exceptRunId)));
  return { lists: stated, kept: keptSums(sqlite, last) };
}

/**
 * No changes hash can be computed for runs before an upgrade or a rebuild. The sums `kept` replace it. They cover each version that
 * is left: its content, the runs that first saw it and wrote it, and how it had ended by then. A row that is updated later moves into
 * the history with the same numbers and the same content, so the sums stay the same until a pruning deletes versions.
 */
export function keptSums(sqlite: Database.Database, through: number) {
  return keptResources.map(resource => {
    const versions = sqlite
      .prepare<[{ through: number; resource: string }], string>(
        `SELECT id || ' ' || _first_seen_run_id || ' ' || _changed_run_id || ' ' || lower(hex(_content))
         FROM ${tableOf(resource)} WHERE _changed_run_id <= @through
         UNION ALL
         SELECT record_id || ' ' || first_seen_run_id || ' ' || valid_from_run_id || ' ' || lower(hex(content)) ||
           iif(valid_to_run_id <= @through, ' ' || valid_to_run_id || ' ' || ended_by, '')
         FROM record_history WHERE +resource = @resource AND valid_from_run_id <= @through`,
      )
      .pluck();
    const sum = new Sum();
    for (const version of versions.iterate({ through, resource })) sum.add(hash16(version));
    return { resource, count: sum.count, sum: sum.toString() };
  });
}
