import type Database from 'better-sqlite3';
import { kept, keptResources } from '../../../contract/lists.ts';
import { instantMs } from '../../../contract/time.ts';
import { firstValue, type Sqlite } from '../../tables/ask.ts';
import { EndedRuns } from '../../tables/ended-runs.ts';
import { timeOfRun } from '../../tables/view-sql.ts';
import { browsableOf, type ChangeFilter, noFilter } from '../browsable.ts';
import { conditionOf, spanOf } from '../records/filter.ts';

export { EndedRuns };

/** A change of one record, by one run. */
export interface Change {
  readonly runId: number;
  /** When the run had applied the list. For connections, which belong to several lists, when the run had ended. */
  readonly changedAt: string | null;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: (typeof operations)[number];
  /** JSON text: the record after the change or, if it was removed, before it; null if it was erased. */
  readonly record: string | null;
  /** JSON text: the record before an update; null otherwise, and if that version was erased or pruned. */
  readonly before: string | null;
}

/** What can happen to a record, in the order in which one run does it: a record can come back in the run that removed it. */
export const operations = ['update', 'removal', 'insert'] as const;

/** The fields that identify a change within one log of receipts. */
export type ChangeKey = Pick<Change, 'runId' | 'resource' | 'recordId' | 'operation'>;

/** True if a change comes after another one: by its run, its list, its record, its operation. */
export function isAfter(change: ChangeKey, other: ChangeKey): boolean {
  const order =
    change.runId - other.runId ||
    placeOf(change.resource) - placeOf(other.resource) ||
    change.recordId - other.recordId ||
    operations.indexOf(change.operation) - operations.indexOf(other.operation);
  return order > 0;
}

const places: readonly string[] = keptResources;

/** The place of a list, or of the connections, among all; -1 for another name. */
export function placeOf(resource: string): number {
  return places.indexOf(resource);
}

/** Selects some of the changes of ended runs. */
export interface ChangeRequest {
  readonly filter?: ChangeFilter | undefined;
  readonly sinceRunId: number;
  readonly untilRunId?: number;
  readonly isDescending?: boolean;
  /** Only changes after this one, in that order. */
  readonly after?: ChangeKey | null;
}

const history = { table: 'record_history' };
const ofHistory = ['valid_from_run_id', 'valid_to_run_id'].map(column => ({ ...history, column }));
const runColumns = [...kept.map(({ table }) => ({ table, column: '_changed_run_id' })), ...ofHistory];

/** The changes that a request selects, one at a time: by run, list, record and operation. Even if they are many, they take no memory. */
export function* changesThatFit(sqlite: Sqlite, request: ChangeRequest): Generator<Change> {
  const { filter = null, isDescending = false, after = null } = request;
  const { changesOf } = runReader(sqlite, filter, isDescending);
  for (const runId of runsOf(sqlite, request))
    for (const change of changesOf(runId, after?.runId === runId ? after : null))
      if (after === null || (isDescending ? isAfter(after, change) : isAfter(change, after))) yield change;
}

/** How many changes a request without `after` selects. It makes no record's text. */
export function countChanges(sqlite: Sqlite, request: Omit<ChangeRequest, 'after'>): number {
  const { countOf } = runReader(sqlite, request.filter ?? null, false);
  return runsOf(sqlite, { ...request, isDescending: false }).reduce((sum, run) => sum + countOf(run), 0);
}

/** The runs that can have changes that a request selects, in its order. */
function* runsOf(sqlite: Sqlite, request: ChangeRequest): Generator<number> {
  const { filter = null, sinceRunId, isDescending = false, after = null } = request;
  const newest = new EndedRuns(sqlite).newest() ?? 0;
  const last = Math.min(request.untilRunId ?? newest, filter?.run ?? newest, newest);
  const first = Math.max(sinceRunId + 1, filter?.run ?? 0);
  // This steps through the indexes from run to run, because most runs change nothing.
  const [pick, sign] = isDescending ? ['max', '<'] : ['min', '>'];
  const runs = runColumns.map(({ table, column }) => {
    return `SELECT ${pick}(${column}) AS id FROM ${table} WHERE ${column} ${sign} @run`;
  });
  const nearest = `SELECT ${pick}(id) FROM (${runs.join(' UNION ALL ')})`;
  const next = sqlite.prepare<object, number>(nearest).pluck();
  const nextRun = (run: number) => next.get({ run }) ?? null;
  let runId = after?.runId ?? nextRun(isDescending ? last + 1 : first - 1);
  for (; runId !== null && runId >= first && runId <= last; runId = nextRun(runId)) yield runId;
}

/** A run with more rows than this is read in the order of its records. Others are sorted. */
const sortedMax = 5_000;

const selectChanges = `SELECT c.run_id AS runId, c.changed_at AS changedAt, c.resource AS resource, c.record_id AS recordId,
    c.operation AS operation, c.record AS record, c.before AS before FROM changes c WHERE c.run_id = ?`;

/** Reads the changes of one run from the view `changes`, in order, only from the record of a change on if one is given; or counts them. */
function runReader(sqlite: Sqlite, filter: ChangeFilter | null, isDescending: boolean) {
  const resources: readonly string[] = isDescending ? keptResources.toReversed() : keptResources;
  // Of one record, the operations are in this order: update, removal, insert.
  const [sign, first, direction, operations] = isDescending
    ? ['<=', Number.MAX_SAFE_INTEGER, 'DESC', 'ASC']
    : ['>=', Number.MIN_SAFE_INTEGER, 'ASC', 'DESC'];
  // The view takes some milliseconds to prepare, so each statement waits until a run needs it.
  const prepared = new Map<string, Database.Statement<unknown[], Change>>();
  const select = (more: string) => {
    const statement = prepared.get(more) ?? sqlite.prepare<unknown[], Change>(selectChanges + more);
    prepared.set(more, statement);
    return statement;
  };
  // An order makes SQLite prepare the statement again for each run, which takes longer than reading a short run.
  const inOrder = ` AND c.resource = ? AND c.record_id ${sign} ? ORDER BY c.record_id ${direction}, c.operation ${operations}`;
  const one = ' AND c.resource = ? AND c.record_id = ? AND c.operation = ?';

  const isLong = (run: number, columns: typeof runColumns) => {
    const rows = columns.map(({ table, column }) => `SELECT 1 FROM ${table} WHERE ${column} = @run`);
    const count = `SELECT count(*) FROM (${rows.join(' UNION ALL ')} LIMIT ${sortedMax})`;
    return firstValue<number>(sqlite, count, { run }) === sortedMax;
  };

  /** The records whose changes match, from the tables, because the view would make the text of each record first. */
  const keysOf = (wanted: ChangeFilter, resource: string, run: number) => {
    const browsable = browsableOf(resource);
    const ofRecord = { ...wanted, from: null, to: null };
    const values = {};
    const rows = conditionOf(sqlite, browsable, ofRecord, 'row', values);
    const ended = conditionOf(sqlite, browsable, ofRecord, 'history', values);
    // The plus keeps SQLite from using the other index.
    const [byRun, byRecord] = isLong(run, ofHistory) ? ['+', ''] : ['', '+'];
    const versions = (column: string, operation: string) =>
      `SELECT h.record_id, ${operation} FROM record_history h
       WHERE ${byRun}h.${column} = @run AND ${byRecord}h.resource = @resource AND ${byRecord}h.record_id ${sign} @start
         AND ${ended}`;
    const keys = `SELECT recordId, operation FROM (
        SELECT t.id AS recordId, iif(t._first_seen_run_id = t._changed_run_id, 'insert', 'update') AS operation
        FROM ${browsable.table} t WHERE t._changed_run_id = @run AND t.id ${sign} @start AND ${rows}
        UNION ALL ${versions('valid_from_run_id', "iif(h.first_seen_run_id = h.valid_from_run_id, 'insert', 'update')")}
        UNION ALL ${versions('valid_to_run_id', "'removal'")} AND h.ended_by = 'removal')
      WHERE operation = coalesce(@operation, operation)`;
    return { keys, values: { ...values, run, resource, operation: wanted.operation } };
  };

  const isInTime = (wanted: Parameters<typeof spanOf>[0], run: number, resource: string) => {
    const span = spanOf(wanted);
    if (span === null) return true;
    const time = firstValue<string>(sqlite, `SELECT ${timeOfRun('@run', '@resource')}`, { run, resource });
    const atMs = instantMs(time ?? '');
    return atMs !== null && atMs >= span.fromMs && atMs < span.endMs;
  };

  const isWanted = ({ resource: wanted, ...times }: ChangeFilter, run: number, resource: string) =>
    (wanted ?? resource) === resource && isInTime(times, run, resource);

  const countOf = (run: number): number => {
    const wanted = filter ?? { ...noFilter, resource: null, operation: null, run: null };
    const counts = resources.map(resource => {
      if (!isWanted(wanted, run, resource)) return 0;
      const { keys, values } = keysOf(wanted, resource, run);
      return firstValue<number>(sqlite, `SELECT count(*) FROM (${keys})`, { ...values, start: first }) ?? 0;
    });
    return counts.reduce((sum, count) => sum + count, 0);
  };

  function* changesOf(run: number, after: ChangeKey | null): Generator<Change> {
    if (filter === null && !isLong(run, runColumns)) {
      const found = select('').all(run);
      const sorted = found.sort((change, other) => (isAfter(change, other) ? 1 : -1));
      return yield* isDescending ? sorted.reverse() : sorted;
    }
    for (const resource of resources.slice(after === null ? 0 : resources.indexOf(after.resource))) {
      const start = after?.resource === resource ? after.recordId : first;
      if (filter === null) yield* select(inOrder).iterate(run, resource, start);
      else if (isWanted(filter, run, resource)) {
        const { keys, values } = keysOf(filter, resource, run);
        const ordered = `${keys} ORDER BY recordId ${direction}, operation ${operations}`;
        for (const key of sqlite.prepare<object, ChangeKey>(ordered).iterate({ ...values, start })) {
          const change = select(one).get(run, resource, key.recordId, key.operation);
          if (change !== undefined) yield change;
        }
      }
    }
  }
  return { changesOf, countOf };
}
