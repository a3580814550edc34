import type Database from 'better-sqlite3';
import { receiptOrNull } from '../../audit/read-receipt.ts';
import type { ConnectionsReceipt, ListReceipt, ListSum, RunReceipt } from '../../audit/receipt.ts';
import { lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { ContentSum } from '../tables/content-sums.ts';
import { ChangesOfRuns } from './changes-of-runs.ts';
import { ReceiptLog } from './receipt-log.ts';

/** What a receipt needs besides the tables of runs. */
interface ReceiptSources {
  readonly mirrorId: string;
  /** How many rows stand in a list, or among the connections, after the run, and what they sum up to. */
  readonly stateAfter: (resource: ListSum['resource']) => Sum;
  /** What the run changed in a list, or in the connections. */
  readonly changes: (resource: ListSum['resource']) => { readonly count: number; readonly digest: string };
}

/** Of a run of 0.1.0 nobody knows who ran it. */
type RunRow = Omit<RunReceipt, 'kind' | 'mirrorId' | 'runId' | 'actor' | 'lists'> & {
  readonly actor: string | null;
};

/** Without count and sum where the run did not write the list. */
type ListRow = Omit<ListReceipt, 'recordCount' | 'checksum' | 'changes'> & {
  readonly recordCount: number | null;
  readonly checksum: string | null;
};

/** Composes the receipt of a run that has ended from what the tables say of it; null where there is no such run. */
export function composeRunReceipt(
  sqlite: Database.Database,
  runId: number,
  sources: ReceiptSources,
): RunReceipt | null {
  const run = sqlite
    .prepare<[number], RunRow>(
      `SELECT status, "trigger", started_at AS startedAt, completed_at AS completedAt,
         docmirror_version AS docmirrorVersion, base_url AS baseUrl, _actor AS actor
       FROM sync_runs WHERE id = ?`,
    )
    .get(runId);
  if (run === undefined) return null;
  return {
    ...run,
    kind: 'run',
    mirrorId: sources.mirrorId,
    runId,
    actor: run.actor ?? '',
    lists: [...listReceipts(sqlite, runId, sources), ...connectionsReceipt(sources)],
  };
}

function listReceipts(sqlite: Database.Database, runId: number, sources: ReceiptSources): ListReceipt[] {
  const rows = sqlite
    .prepare<[number], ListRow>(
      `SELECT resource, status, completeness, inserted, updated, removed, rejected, removals_withheld AS removalsWithheld,
         record_count AS recordCount, checksum
       FROM sync_run_resources WHERE run_id = ?`,
    )
    .all(runId);
  const places = lists.map(({ resource }) => resource);
  return rows
    .filter(({ resource }) => places.includes(resource))
    .sort((a, b) => places.indexOf(a.resource) - places.indexOf(b.resource))
    .map(({ recordCount, checksum, ...row }) => {
      const changes = sources.changes(row.resource).digest;
      if (recordCount !== null && checksum !== null) return { ...row, recordCount, checksum, changes };
      // A run that 0.1.0 left under way has kept no such sums.
      const state = sources.stateAfter(row.resource);
      return { ...row, recordCount: state.count, checksum: state.toString(), changes };
    });
}

function connectionsReceipt({ changes, stateAfter }: ReceiptSources): ConnectionsReceipt[] {
  const { count, digest } = changes('connections');
  if (count === 0) return [];
  const state = stateAfter('connections');
  const [recordCount, checksum] = [state.count, state.toString()];
  return [{ resource: 'connections', recordCount, checksum, changes: digest }];
}

/** Writes the receipt of a run, in the transaction that ends it. */
export function writeRunReceipt(sqlite: Database.Database, runId: number): void {
  const log = new ReceiptLog(sqlite);
  const receipt = composeRunReceipt(sqlite, runId, {
    mirrorId: log.mirrorId(),
    stateAfter: resource => lastState(sqlite, log, resource),
    changes: resource => new ChangesOfRuns(sqlite, resource).of(runId),
  });
  if (receipt !== null) log.append(receipt);
}

/** How a list stands by the newest receipt that speaks of it; the connections, whose runs keep no sums, by their own sum. */
export function lastState(sqlite: Database.Database, log: ReceiptLog, resource: ListSum['resource']): Sum {
  if (resource === 'connections') return new ContentSum(sqlite, resource, resource).stored();
  for (const text of log.newestFirst()) {
    const receipt = receiptOrNull(text);
    const states: readonly ListSum[] = receipt === null || receipt.kind === 'prune' ? [] : receipt.lists;
    const state = states.find(list => list.resource === resource);
    if (state !== undefined) return Sum.from(state.recordCount, state.checksum);
  }
  return new Sum();
}
