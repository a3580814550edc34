import type Database from 'better-sqlite3';
import { type ListReceipt, type ListSum, type RunReceipt, receiptOrNull } from '../../audit/receipt.ts';
import { keptResources, lists, tableOf } from '../../contract/lists.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { ReceiptLog } from './receipt-log.ts';
import { type RunChanges, RunHashes } from './run-hashes.ts';

type Resource = ListSum['resource'];

/** The data of a receipt that is not in the tables of runs. */
interface ReceiptSources {
  readonly mirrorId: string;
  readonly books: (runId: number) => string;
  /** The changes of the run in a list, or in the connections. */
  readonly changes: (resource: Resource) => RunChanges;
  /** The sum of the connections after the run. It is only called if the run changed some. */
  readonly connectionsAfter: (changes: RunChanges) => Sum;
}

type RunRow = Omit<RunReceipt, 'kind' | 'mirrorId' | 'runId' | 'books' | 'lists'>;
type ListRow = Omit<ListReceipt, 'changes' | 'ended'>;

/** Composes the receipt of a run that has ended, from the tables; null if that run does not exist. */
export function composeRunReceipt(
  sqlite: Database.Database,
  runId: number,
  { mirrorId, books, changes, connectionsAfter }: ReceiptSources,
): RunReceipt | null {
  const run = sqlite
    .prepare<[number], RunRow>(
      `SELECT status, "trigger", started_at AS startedAt, completed_at AS completedAt, docmirror_version AS docmirrorVersion,
         base_url AS baseUrl, coalesce(_actor, '') AS actor FROM sync_runs WHERE id = ?`,
    )
    .get(runId);
  if (run === undefined) return null;
  const rows = sqlite
    .prepare<[number], ListRow>(
      `SELECT resource, status, completeness, inserted, updated, removed, rejected, removals_withheld AS removalsWithheld,
         record_count AS recordCount, checksum FROM sync_run_resources WHERE run_id = ?`,
    )
    .all(runId);
  const stated: RunReceipt['lists'][number][] = lists.flatMap(({ resource }) =>
    rows
      .filter(row => row.resource === resource)
      .map(row => {
        const { changes: hash, ended } = changes(resource);
        return { ...row, changes: hash, ended };
      }),
  );
  const ofConnections = changes('connections');
  if (ofConnections.count > 0) {
    const { changes: hash, ended } = ofConnections;
    const state = stateOf('connections', connectionsAfter(ofConnections));
    stated.push({ ...state, resource: 'connections', changes: hash, ended });
  }
  return { ...run, kind: 'run', mirrorId, runId, books: books(runId), lists: stated };
}

/** Writes the receipt of a run, in the transaction that ends it. */
export function writeRunReceipt(sqlite: Database.Database, runId: number): void {
  const log = new ReceiptLog(sqlite);
  const hashes = new RunHashes(sqlite);
  const receipt = composeRunReceipt(sqlite, runId, {
    mirrorId: log.mirrorId(),
    books: id => hashes.books(id),
    changes: resource => hashes.changes(runId, resource),
    connectionsAfter: ({ began, gone }) => lastState(sqlite, 'connections').plus(began).minus(gone),
  });
  if (receipt !== null) log.append(receipt);
}

/** The sum of a list, or of the connections, in the newest receipt that has it; an empty sum if none does. */
export function lastState(sqlite: Database.Database, resource: Resource): Sum {
  const texts = sqlite
    .prepare<[string], string>(
      'SELECT receipt FROM sync_receipts WHERE instr(receipt, ?) > 0 ORDER BY leaf_index DESC',
    )
    .pluck();
  for (const text of texts.iterate(`"resource":"${resource}"`)) {
    const receipt = receiptOrNull(text);
    if (receipt === null || !('lists' in receipt)) continue;
    const states: readonly ListSum[] = receipt.lists;
    const state = states.find(list => list.resource === resource);
    if (state !== undefined) return Sum.from(state.recordCount, state.checksum);
  }
  return new Sum();
}

/**
 * The sum of the content hashes beside the rows of a list, or of the connections. It does not read the rows themselves.
 *
 * @param exceptRunId rows that this run wrote are left out; 0 for all rows.
 */
export function sumOfContents(sqlite: Database.Database, resource: Resource, exceptRunId = 0): Sum {
  const sum = new Sum();
  const contents = sqlite
    .prepare<[number], Buffer | null>(`SELECT _content FROM ${tableOf(resource)} WHERE _changed_run_id <> ?`)
    .pluck();
  for (const content of contents.iterate(exceptRunId)) if (content?.length === contentBytes) sum.add(content);
  return sum;
}

/** The sums of all lists and the connections, in the form of a receipt. */
export function currentStates(sqlite: Database.Database, exceptRunId = 0): ListSum[] {
  return keptResources.map(resource => stateOf(resource, sumOfContents(sqlite, resource, exceptRunId)));
}

function stateOf(resource: Resource, sum: Sum): ListSum {
  return { resource, recordCount: sum.count, checksum: sum.toString() };
}
