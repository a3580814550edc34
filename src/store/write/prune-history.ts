import type Database from 'better-sqlite3';
import { MirrorAlteredError } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { deleteRejected } from '../receipts/deleted-rejected.ts';
import { keptHashes, lossesOfKept, nameOf } from '../receipts/kept.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastRunBefore, ofKind, RunComposer, readPruned } from '../receipts/statements.ts';
import { allValues } from '../tables/ask.ts';
import { EndedRuns } from '../tables/ended-runs.ts';

/** Versions deleted in one step, after which signals are handled. */
const versionsPerStep = 5_000;
/** The most pages of the file that one run gives back to the disk, as that takes some time. */
const pagesFreed = 20_000;

/** The run that goes on, how long a version is kept after its end, in milliseconds, and the current time. */
interface PruneOptions {
  readonly runId: number;
  readonly keepMs: number;
  readonly at: string;
  readonly signal: AbortSignal;
}

/**
 * Deletes versions that ended, and rejected records that were settled, too long before the last run began, with a receipt. Gives free pages
 * back, and returns how many versions went. `write` does its work in a transaction.
 */
export async function pruneHistory(
  sqlite: Database.Database,
  options: PruneOptions,
  write: <T>(work: () => T | Promise<T>) => Promise<T>,
): Promise<number> {
  const slice = new TimeSlice(options.signal);
  const deleted = await write(async () => {
    const through = await beginPruning(sqlite, options, slice);
    const next =
      'SELECT id FROM record_history WHERE valid_to_run_id <= ? ORDER BY valid_to_run_id, id LIMIT ?';
    const remove = sqlite.prepare<[number, number]>(`DELETE FROM record_history WHERE id IN (${next})`);
    let count = 0;
    for (let step = through; step > 0; count += step) {
      await slice.next();
      step = remove.run(through, versionsPerStep).changes;
    }
    return count;
  });
  // A file that was made without `auto_vacuum` keeps its free pages, and uses them again.
  await write(() => sqlite.pragma(`incremental_vacuum(${pagesFreed})`));
  return deleted;
}

/** Rejected records that a later run, up to `@through`, was sure not to find. */
const settled = `EXISTS (SELECT 1 FROM sync_run_resources l WHERE l.resource = rejected_records.resource
  AND l.run_id > last_run_id AND l.run_id <= @through AND l.completeness IN ('proven', 'incremental'))`;

/**
 * Deletes the rejected records, writes the receipt, and returns the last run whose ended versions go, or 0. Throws a MirrorAlteredError:
 * evidence is not deleted.
 */
async function beginPruning(
  sqlite: Database.Database,
  { runId: ownId, keepMs, at }: PruneOptions,
  slice: TimeSlice,
): Promise<number> {
  // The clock of one run might be ahead, of this one or of the last one.
  const starts = 'SELECT started_at FROM sync_runs WHERE id <= ? ORDER BY id DESC LIMIT 2';
  const [own = '', last] = allValues<string>(sqlite, starts, ownId);
  if (last === undefined) return 0;
  // A run must have ended before the other one began, whatever is kept.
  const before = new Date(Math.min(Date.parse(own), Date.parse(last)) - keepMs - 1).toISOString();
  const runs = new EndedRuns(sqlite);
  const through = runs.lastOfAllBy(before);
  const pruned = readPruned(sqlite).throughRunId;
  const oldest = sqlite.prepare<[], number>('SELECT min(valid_to_run_id) FROM record_history').pluck().get();
  const rejected = deleteRejected(sqlite, settled, { through });
  const hasVersions = through > pruned && through >= (oldest ?? Number.POSITIVE_INFINITY);
  if (!hasVersions && rejected.length === 0) return 0;
  const throughRunId = hasVersions ? through : pruned;
  const from = Math.max(pruned, lastRunBefore(sqlite, 'rebuild'));
  const composer = new RunComposer(sqlite);
  const stated = statedHashes(sqlite);
  for (const runId of runs.since(from).filter(id => id <= throughRunId))
    for (const [resource, { hashes, count }] of composer.changes(runId)) {
      const said = stated(runId, resource) ?? (count === 0 ? hashes : undefined);
      if (said?.changes === hashes.changes && said.ended === hashes.ended) continue;
      throw refusal(`What run ${runId} changed in ${resource} is not what its receipt says`);
    }
  for (const { resource, kind } of await lossesOfKept(sqlite, slice))
    throw refusal(
      `What is left of older runs in ${resource} is not what the receipt of the ${nameOf(kind)} says`,
    );
  const log = new ReceiptLog(sqlite);
  const kept = await keptHashes(sqlite, throughRunId, slice);
  const about = { mirrorId: log.mirrorId(), at, before, throughRunId, kept };
  log.append({ kind: 'prune', ...about, ...(rejected.length > 0 && { rejected }) });
  return hasVersions ? through : 0;
}

function refusal(what: string): MirrorAlteredError {
  return new MirrorAlteredError(what, 'The lists were synced, but no older version was deleted');
}

/** Reads what the receipts of runs state of lists, `ended` by the newest erasure; undefined if a receipt does not have the list. */
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
