import type { StoredConnection } from '../../contract/content.ts';
import { wireConnection, wireWriter } from '../../contract/content.ts';
import type { Scalar } from '../../contract/lists.ts';
import { mayRemove, type RemovalGuard } from '../../proof/removal.ts';
import type { Answer } from '../../proof/window.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import type { ConnectionNames } from './connections.ts';
import { diffOf } from './diff.ts';
import type { ListContext, RecordChange } from './list-context.ts';
import type { ReadList } from './memory.ts';
import type { Stage } from './stage.ts';

/** The result of reading a list. */
export interface Result extends ReadList {
  readonly answers: readonly Answer[];
  /** Known records whose presence the run could not decide. */
  readonly undecided: number;
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
  /** A staged record gets the row of this and its number: the greatest id of the rows so far or, in a list with ids, 0. */
  readonly base: number;
}

/** Finds what a run does to a list that was read. */
export function planOf(context: ListContext, stage: Stage, { proof, answers, removals }: Result): Plan {
  const { list, records, table, sum } = context;
  const { sqlite, sql, isOfIds } = stage;
  const total = answers.reduce((greatest, answer) => Math.max(greatest, answer.total), 0);
  const diff = diffOf(stage, total, proof !== null);
  const pairs = isOfIds
    ? sqlite
        .prepare<[], number>(sql.editsOfIds)
        .pluck()
        .all()
        .map(id => ({ row: id, n: id }))
    : diff.edits;
  const edits = new Map(pairs.map(({ row, n }) => [row, n]));
  const copies = new Map(stage.copies);
  if (isOfIds) for (const id of edits.keys()) copies.set(id, 0);
  for (const [n, used] of diff.used) copies.set(n, (copies.get(n) ?? 1) - used);
  sqlite.exec(sql.resetCopies);
  const setCopies = sqlite.prepare(sql.setCopies);
  for (const [n, count] of copies) setCopies.run(count, n);

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
    changedIdentity: isAllowed ? null : changedIdentity(),
    base: isOfIds ? 0 : (sqlite.prepare<[], number>(sql.lastId).pluck().get() as number),
  };

  /** Whether rows that are gone can be removed: not if they are too many, or if a rejected record might be one of them. */
  function mayGo(): boolean {
    const settled = records.last('settled', list.resource);
    if (stage.rejected.hasUnreadableNew(sqlite, records.last('sure', list.resource)?.runId ?? 0))
      return false;
    // Only rows up to the last settled run count. A run that withheld removals is not settled: otherwise the next run could remove
    // them all.
    const settledRunId = settled?.runId ?? Number.POSITIVE_INFINITY;
    const counted = gone.filter(id => table.read(id).firstSeenRunId <= settledRunId).length;
    return mayRemove(counted, settled?.recordCount ?? sum.count, removals);
  }

  /** The field in which as many new records differ from those that are gone: the service seems to write it otherwise. */
  function changedIdentity(): string | null {
    sqlite.exec('DELETE FROM temp.unshown');
    sqlite.prepare(sql.setUnshown).run(JSON.stringify(gone));
    const isOnly = ({ query }: { query: string }) => sqlite.prepare<[], number>(query).pluck().get() === 1;
    return sql.changedIdentity.find(isOnly)?.name ?? null;
  }
}

/** The changes that a plan would make to a list. */
export function* changesOf(
  { list, table }: ListContext,
  { sqlite, sql, isOfIds }: Stage,
  plan: Plan,
  names: ConnectionNames,
): Generator<RecordChange> {
  const { resource } = list;
  const connections = new ConnectionTable(sqlite);
  const called = new Map<number, StoredConnection>(names.renamed().map(({ after }) => [after.id, after]));
  const before = wireWriter(list, id => connections.read(id));
  const after = wireWriter(list, id => called.get(id) ?? connections.read(id) ?? names.believedOf(id));
  const rowOf = new Map([...plan.edits].map(([row, n]) => [n, row]));
  type Row = [n: number, copies: number, arrays: string | null, extra: string | null, ...scalars: Scalar[]];
  for (const row of sqlite.prepare<[], Row>(sql.staged).raw().iterate()) {
    const [n, copies, arrays, extra, ...scalars] = row;
    const id = isOfIds ? n : null;
    const record = after({ id, scalars, extra, arrays: arrays === null ? [] : JSON.parse(arrays) });
    const edited = rowOf.get(n);
    if (edited !== undefined) {
      const was = before(table.read(edited).record);
      yield { resource, operation: 'update', recordId: edited, record, before: was };
    }
    for (let copy = 0; copy < copies; copy++)
      yield { resource, operation: 'insert', recordId: plan.base + n, record, before: null };
  }
  for (const id of plan.gone) {
    const record = before(table.read(id).record);
    yield { resource, operation: 'removal', recordId: id, record, before: null };
  }
}

/** The changes of connections that would be called otherwise. */
export function renamings(names: ConnectionNames): RecordChange[] {
  return names.renamed().map(({ row, after }) => ({
    resource: 'connections',
    operation: 'update',
    recordId: row.id,
    record: wireConnection(after),
    before: wireConnection(row),
  }));
}
