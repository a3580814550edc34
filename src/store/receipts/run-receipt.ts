import type Database from 'better-sqlite3';
import { desc, eq, sql } from 'drizzle-orm';
import {
  type ConnectionsReceipt,
  type ListReceipt,
  type ListSum,
  type RunReceipt,
  receiptOrNull,
} from '../../audit/receipt.ts';
import { lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { syncReceipts, syncRunResources, syncRuns } from '../tables/schema.ts';
import { prepare, prepareValue, select } from '../tables/statement.ts';
import { Books } from './books.ts';
import { ChangesOfRuns, type RunChanges } from './changes-of-runs.ts';
import { ReceiptLog } from './receipt-log.ts';

type Resource = ListSum['resource'];

/** The data of a receipt that is not in the tables of runs. */
interface ReceiptSources {
  readonly mirrorId: string;
  readonly books: (runId: number) => string;
  /** The sum of the connections after the run. It is only called if the run changed some. */
  readonly connectionsAfter: (changes: Pick<RunChanges, 'began' | 'gone'>) => Sum;
  /** The changes of the run in a list, or in the connections. */
  readonly changes: (resource: Resource) => RunChanges;
}

type RunRow = Omit<RunReceipt, 'kind' | 'mirrorId' | 'runId' | 'actor' | 'books' | 'lists'> & {
  readonly actor: string | null;
};

type ListRow = Omit<ListReceipt, 'changes' | 'ended'>;

/** Composes the receipt of a run that has ended, from the tables; null if that run does not exist. */
export function composeRunReceipt(
  sqlite: Database.Database,
  runId: number,
  { mirrorId, books, connectionsAfter, changes }: ReceiptSources,
): RunReceipt | null {
  const { status, trigger, startedAt, completedAt, docmirrorVersion, baseUrl, actor } = syncRuns;
  const run = prepare(sqlite, (id: number) =>
    select({ status, trigger, startedAt, completedAt, docmirrorVersion, baseUrl, actor })
      .from(syncRuns)
      .where(eq(syncRuns.id, id)),
  ).get(runId) as RunRow | undefined;
  if (run === undefined) return null;
  const ofLists = listRows(sqlite, runId).map(row => ({ ...row, ...hashesOf(changes(row.resource)) }));
  const ofConnections = changes('connections');
  return {
    ...run,
    kind: 'run',
    mirrorId,
    runId,
    actor: run.actor ?? '',
    books: books(runId),
    lists: [...ofLists, ...connectionsReceipt(ofConnections, connectionsAfter)],
  };
}

function listRows(sqlite: Database.Database, runId: number): ListRow[] {
  const of = syncRunResources;
  const { resource: name, status, completeness, inserted, updated, removed, rejected } = of;
  const { removalsWithheld, recordCount, checksum } = of;
  const counts = { inserted, updated, removed, rejected, removalsWithheld, recordCount };
  const rows = prepare(sqlite, (run: number) =>
    select({ resource: name, status, completeness, ...counts, checksum })
      .from(of)
      .where(eq(of.runId, run)),
  ).all(runId) as ListRow[];
  const places = lists.map(({ resource }) => resource);
  return rows
    .filter(({ resource }) => places.includes(resource))
    .sort((a, b) => places.indexOf(a.resource) - places.indexOf(b.resource));
}

function connectionsReceipt(
  changes: RunChanges,
  connectionsAfter: ReceiptSources['connectionsAfter'],
): ConnectionsReceipt[] {
  if (changes.count === 0) return [];
  const state = connectionsAfter(changes);
  const [recordCount, checksum] = [state.count, state.toString()];
  return [{ resource: 'connections', recordCount, checksum, ...hashesOf(changes) }];
}

function hashesOf({ changes, ended }: RunChanges): Pick<RunChanges, 'changes' | 'ended'> {
  return { changes, ended };
}

/** Writes the receipt of a run, in the transaction that ends it. */
export function writeRunReceipt(sqlite: Database.Database, runId: number): void {
  const log = new ReceiptLog(sqlite);
  const receipt = composeRunReceipt(sqlite, runId, {
    mirrorId: log.mirrorId(),
    books: id => new Books(sqlite).of(id),
    connectionsAfter: ({ began, gone }) => lastState(sqlite, 'connections').plus(began).minus(gone),
    changes: resource => new ChangesOfRuns(sqlite, resource).of(runId),
  });
  if (receipt !== null) log.append(receipt);
}

/** The sum of a list, or of the connections, in the newest receipt that has it; an empty sum if none does. */
export function lastState(sqlite: Database.Database, resource: Resource): Sum {
  const { receipt: stored, leafIndex } = syncReceipts;
  const speaksOf = prepareValue(sqlite, (words: string) =>
    select({ stored }).from(syncReceipts).where(sql`instr(${stored}, ${words}) > 0`).orderBy(desc(leafIndex)),
  );
  for (const text of speaksOf.iterate(`"resource":"${resource}"`)) {
    const receipt = receiptOrNull(text);
    if (receipt === null || !('lists' in receipt)) continue;
    const states: readonly ListSum[] = receipt.lists;
    const state = states.find(list => list.resource === resource);
    if (state !== undefined) return Sum.from(state.recordCount, state.checksum);
  }
  return new Sum();
}
