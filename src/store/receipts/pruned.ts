import type Database from 'better-sqlite3';
import { type KeptSum, type Receipt, type ReceiptOf, receiptOrNull } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { hash16, Sum } from '../../contract/sum.ts';
import { EndedRuns } from '../tables/ended-runs.ts';

/** The time up to which ended versions were deleted. */
export interface Pruned {
  /** As in the newest receipt of a pruning; null if nothing was ever deleted. */
  readonly before: string | null;
  /** The last run for which it and all earlier runs had ended by then. The versions that these ended are gone. 0 if there is none. */
  readonly throughRunId: number;
}

/** Reads how far back the history goes. */
export function readPruned(sqlite: Database.Database): Pruned {
  const newest = newestOfKind(sqlite, 'prune');
  if (newest === null) return { before: null, throughRunId: 0 };
  const { before } = newest.receipt;
  // The clock of the pruning might have been ahead. Runs that ended after its receipt do not count, whatever their times are.
  const next = 'SELECT min(run_id) FROM sync_receipts WHERE leaf_index > ?';
  const after = sqlite.prepare<[number], number | null>(next).pluck().get(newest.leafIndex) ?? null;
  const through = new EndedRuns(sqlite).lastOfAllBy(before);
  return { before, throughRunId: after === null ? through : Math.min(through, after - 1) };
}

/**
 * The last run before the newest rebuild or upgrade; 0 if there is none. The state of the mirror before a rebuild can't be read any
 * more. Receipts before an upgrade cover contents of another shape.
 */
export function lastRunBefore(sqlite: Database.Database, kind: 'rebuild' | 'upgrade'): number {
  const newest = newestOfKind(sqlite, kind);
  return newest === null ? 0 : lastRunAt(sqlite, newest.leafIndex);
}

/**
 * Reads the hashes of runs' receipts about lists. If versions of a list were erased, the receipt of the erasure has another `ended`.
 *
 * @returns a function that gives undefined if the receipt does not have the list.
 */
export function statedHashes(sqlite: Database.Database) {
  const erased = erasedHashes(sqlite);
  const receipts = sqlite.prepare<[number], string>('SELECT receipt FROM sync_receipts WHERE run_id = ?');
  receipts.pluck();
  return (runId: number, resource: string) => {
    const receipt = receiptOrNull(receipts.get(runId) ?? '');
    const list = receipt?.kind === 'run' ? receipt.lists.find(each => each.resource === resource) : undefined;
    return list && { changes: list.changes, ended: erased.get(`${resource} ${runId}`) ?? list.ended };
  };
}

/** The hashes `ended` that erasures changed, by the list and the run, with a space between. */
export function erasedHashes(sqlite: Database.Database): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  for (const { receipt } of [...ofKind(sqlite, 'erase')].reverse())
    for (const { runId, ended } of receipt.ended) hashes.set(`${receipt.resource} ${runId}`, ended);
  return hashes;
}

// No changes hash can be computed for runs before an upgrade or a rebuild. The sums `kept` replace it. They cover each version that
// is left: its content, the runs that first saw it and wrote it, and how it had ended by then. A row that is updated later moves into
// the history with the same numbers and the same content, so the sums stay the same until a pruning deletes versions.

/** The sums after an upgrade or a rebuild, computed from the rows and versions at that time. */
export function keptNow(sqlite: Database.Database): KeptSum[] {
  return keptSums(sqlite, lastRunAt(sqlite, Number.MAX_SAFE_INTEGER));
}

/** The lists whose rows and versions are by other runs than the receipt of the newest upgrade or rebuild says. */
export function keptByOthers(sqlite: Database.Database): { afterRunId: number; resources: string[] } {
  const newest = [newestOfKind(sqlite, 'upgrade'), newestOfKind(sqlite, 'rebuild')].reduce((one, other) =>
    (one?.leafIndex ?? -1) > (other?.leafIndex ?? -1) ? one : other,
  );
  const pruned = newestOfKind(sqlite, 'prune');
  if (newest === null || newest.leafIndex < Number(pruned?.leafIndex))
    return { afterRunId: 0, resources: [] };
  const afterRunId = lastRunAt(sqlite, newest.leafIndex);
  const { kept } = newest.receipt;
  const altered = keptSums(sqlite, afterRunId).filter(({ resource, count, sum }) => {
    const said = kept.find(each => each.resource === resource);
    return count !== said?.count || sum !== said.sum;
  });
  return { afterRunId, resources: altered.map(({ resource }) => resource) };
}

function keptSums(sqlite: Database.Database, through: number): KeptSum[] {
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

/** The last run whose receipt is before a place in the log; 0 if there is none. */
function lastRunAt(sqlite: Database.Database, leafIndex: number): number {
  const last = 'SELECT max(run_id) FROM sync_receipts WHERE leaf_index < ?';
  return sqlite.prepare<[number], number | null>(last).pluck().get(leafIndex) ?? 0;
}

/** The newest receipt of a kind; null if there is none. */
function newestOfKind<Kind extends OtherKind>(sqlite: Database.Database, kind: Kind): Found<Kind> | null {
  for (const newest of ofKind(sqlite, kind)) return newest;
  return null;
}

/** The receipts of a kind that no run writes, the newest first. One that somebody altered is left out. */
function* ofKind<Kind extends OtherKind>(
  sqlite: Database.Database,
  kind: Kind,
): Generator<Found<Kind>, undefined> {
  const receipts = sqlite.prepare<[string], { leafIndex: number; text: string }>(
    `SELECT leaf_index AS leafIndex, receipt AS text FROM sync_receipts
     WHERE run_id IS NULL AND instr(receipt, ?) > 0 ORDER BY leaf_index DESC`,
  );
  for (const { leafIndex, text } of receipts.iterate(`"kind":"${kind}"`)) {
    const receipt = receiptOrNull(text);
    if (receipt?.kind === kind) yield { leafIndex, receipt: receipt as Found<Kind>['receipt'] };
  }
}

type OtherKind = Exclude<Receipt['kind'], 'run'>;

interface Found<Kind extends OtherKind> {
  readonly leafIndex: number;
  readonly receipt: ReceiptOf<Kind>;
}
