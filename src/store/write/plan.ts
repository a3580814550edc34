import { and, count, eq, gte, lte } from 'drizzle-orm';
import type { RecordValues, StoredConnection } from '../../contract/content.ts';
import { wireConnection, wireWriter } from '../../contract/wire.ts';
import type { Proof } from '../../proof/prove.ts';
import { mayRemove, type RemovalGuard } from '../../proof/removal.ts';
import type { Answer } from '../../proof/window.ts';
import { type ConnectionChanges, ConnectionTable } from '../tables/connection-table.ts';
import { rejectedRecords } from '../tables/schema.ts';
import { prepareValue, select } from '../tables/statement.ts';
import { changedIdentityField } from './changed-identity.ts';
import { diffOf } from './diff.ts';
import type { ChangeObserver, ListContext } from './list-context.ts';
import type { Stage } from './stage.ts';

/** The result of reading a list. */
export interface Result {
  /** Null if only the growing end of the list was read. */
  readonly proof: Proof | null;
  readonly answers: readonly Answer[];
  /** Why the list is not proven; null if it is. */
  readonly unproven: string | null;
  /** Known records whose presence the run could not decide. */
  readonly undecided: number;
  readonly firstPageNo: number;
  readonly pageSize: number;
  /** When the reading began, as an ISO date in UTC. */
  readonly readAt: string;
  readonly removals: RemovalGuard;
}

/** What a run does to a list. It is found by reading alone: a dry run tells it, and `apply` writes it. */
export interface Plan {
  /** Rows that get a staged record as their new version, each once. */
  readonly edits: ReadonlyMap<number, number>;
  /** How many rows are inserted for a staged record, if it is not one: it can have copies, or become an edit. */
  readonly copies: ReadonlyMap<number, number>;
  /** Staged records that a newer version replaced within the run; each once a copy. */
  readonly dropped: readonly number[];
  readonly gone: readonly number[];
  /** Unshown rows that stay. */
  readonly stays: readonly number[];
  /** How many of them would go if the removals were not withheld, and the field of their identity that seems to be written otherwise. */
  readonly withheld: number;
  readonly changedIdentity: string | null;
  /** The greatest id of the rows so far: a staged record of a list without ids gets the row of this and its number. */
  readonly base: number;
  readonly connections: ConnectionChanges;
}

/** Finds what a run does to a list that was read. */
export function planOf(context: ListContext, stage: Stage, { proof, answers, removals }: Result): Plan {
  const { file, list, records, table, sum } = context;
  const total = answers.reduce((greatest, answer) => Math.max(greatest, answer.total), 0);
  const diff = diffOf(stage, total, proof !== null);
  const ids = () => file.sqlite.prepare<[], number>(stage.sql.editsOfIds).pluck().all();
  const edits = new Map(stage.isOfIds ? ids().map(id => [id, id]) : diff.edits.map(({ row, n }) => [row, n]));
  const copies = new Map<number, number>();
  for (const [number, most] of stage.copies) copies.set(number + 1, most);
  for (const [n, used] of diff.used) copies.set(n, (copies.get(n) ?? 1) - used);

  const fates = new Map((proof?.rows ?? []).map(({ id, fate }) => [id, fate]));
  const gone = diff.unshown.filter(({ id }) => fates.get(id) === 'gone').map(({ id }) => id);
  const isAllowed = gone.length === 0 || mayGo();
  const going = new Set(isAllowed ? gone : []);
  return {
    edits,
    copies,
    dropped: diff.dropped,
    gone: isAllowed ? gone : [],
    stays: diff.unshown.filter(({ id }) => !going.has(id)).map(({ id }) => id),
    withheld: isAllowed ? 0 : gone.length,
    changedIdentity: isAllowed ? null : changedIdentityField(context, gone, inserted()),
    base: file.sqlite.prepare<[], number>(stage.sql.lastId).pluck().get() as number,
    connections: new ConnectionTable(file.sqlite).changes(
      list.resource,
      stage.claims(),
      proof?.verdict.isProven === true,
    ),
  };

  function* inserted(): Generator<RecordValues> {
    for (const record of stage.all())
      if ((copies.get(record.n) ?? 1) > 0 && !edits.has(record.n)) yield record;
  }

  /** Whether rows that are gone can be removed: not if they are too many, or if a rejected record might be one of them. */
  function mayGo(): boolean {
    if (isUnreadableNew(context, stage, records.lastSure(list.resource)?.runId ?? 0)) return false;
    // Only rows up to the last settled run count. A run that withheld removals is not settled: otherwise the next run could remove
    // them all.
    const settled = records.lastSettled(list.resource);
    const settledRunId = settled?.runId ?? Number.POSITIVE_INFINITY;
    const counted = gone.filter(id => table.read(id).firstSeenRunId <= settledRunId).length;
    return mayRemove(counted, settled?.recordCount ?? sum.count, removals);
  }
}

/** How many rows a staged record becomes, besides the one that it updates. */
export function copiesOf({ copies, edits }: Pick<Plan, 'copies' | 'edits'>, n: number): number {
  return copies.get(n) ?? (edits.get(n) === n ? 0 : 1);
}

/** Whether a record was rejected that is completely unreadable, and that was not there in the settled run. */
function isUnreadableNew({ file, list }: ListContext, stage: Stage, settledRunId: number): boolean {
  const unreadable = stage.rejected.all.filter(({ identity }) => identity === null);
  if (unreadable.length === 0) return false;
  const of = rejectedRecords;
  const known = prepareValue(
    file.sqlite,
    (resource: string, bytes: Buffer, runId: number, sameRunId: number) =>
      select({ count: count() })
        .from(of)
        .where(
          and(
            eq(of.resource, resource),
            eq(of.content, bytes),
            lte(of.runId, runId),
            gte(of.lastRunId, sameRunId),
          ),
        ),
  );
  return unreadable.some(
    each => (known.get(list.resource, each.content, settledRunId, settledRunId) ?? 0) < each.count,
  ); // guard: unreadable records
}

/** Tells what a plan would change in a list and in its connections. */
export function tellPlan({ list, table, file }: ListContext, stage: Stage, plan: Plan, tell: ChangeObserver) {
  const { resource } = list;
  const connections = new ConnectionTable(file.sqlite);
  const renamed = new Map<number, StoredConnection>(
    plan.connections.rows.map(({ after }) => [after.id, after]),
  );
  const before = wireWriter(list, id => connections.read(id));
  const after = wireWriter(list, id => renamed.get(id) ?? connections.read(id));
  const update = (row: number, n: number) =>
    tell({
      resource,
      operation: 'update',
      recordId: row,
      record: after(stage.staged(n)),
      before: before(table.read(row).record),
    });
  if (!stage.isOfIds) for (const [row, n] of [...plan.edits].sort(([a], [b]) => a - b)) update(row, n);
  let more = plan.base + stage.numbered;
  for (const record of stage.all()) {
    const { n } = record;
    if (stage.isOfIds && plan.edits.has(n)) update(n, n);
    for (let copy = 0; copy < copiesOf(plan, n); copy++) {
      const recordId = stage.isOfIds ? n : copy === 0 ? plan.base + n : ++more;
      tell({ resource, operation: 'insert', recordId, record: after(record), before: null });
    }
  }
  for (const id of plan.gone) {
    const record = before(table.read(id).record);
    tell({ resource, operation: 'removal', recordId: id, record, before: null });
  }
  for (const { row, after: now } of plan.connections.rows.toSorted((a, b) => a.after.id - b.after.id))
    if (row !== undefined)
      tell({
        resource: 'connections',
        operation: 'update',
        recordId: now.id,
        record: wireConnection(now),
        before: wireConnection(row),
      });
}
