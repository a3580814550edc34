import type Database from 'better-sqlite3';
import { browsableOf, type ChangeFilter } from '../../contract/browsable.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { timeOfRun } from '../tables/view-sql.ts';
import { conditionOf } from './browse.ts';
import { type Change, type ChangeKey, isAfter, placeOf } from './change-cursor.ts';

/** Selects some of the changes of ended runs. */
export interface ChangeRequest {
  /** Only changes that match; all if it is left out. */
  readonly filter?: ChangeFilter | undefined;
  /** Changes of later runs than this. */
  readonly sinceRunId: number;
  /** The last run whose changes are read; the newest if left out. */
  readonly untilRunId?: number;
  /** True for the newest first. */
  readonly isDescending?: boolean;
  /** Only changes after this one, in that order. */
  readonly after?: ChangeKey | null;
}

/** The runs of a mirror that have ended, by number and by time. */
export function runsOf(sqlite: Database.Database): EndedRuns {
  return new EndedRuns(sqlite);
}

const runColumns = [
  ...keptResources.map(resource => [tableOf(resource), '_changed_run_id'] as const),
  ['record_history', 'valid_from_run_id'] as const,
  ['record_history', 'valid_to_run_id'] as const,
];

/** Steps through the indexes from run to run: most runs change nothing. */
function nextRunSql(isDescending: boolean): string {
  const [pick, sign] = isDescending ? ['max', '<'] : ['min', '>'];
  const each = runColumns.map(
    ([table, column]) => `SELECT ${pick}(${column}) AS run_id FROM ${table} WHERE ${column} ${sign} @run`,
  );
  return `SELECT ${pick}(run_id) FROM (${each.join(' UNION ALL ')})`;
}

/** The changes that a request selects, one at a time: by run, list, record and operation. Even if they are many, they take no memory. */
export function* changesThatFit(sqlite: Database.Database, request: ChangeRequest): Generator<Change> {
  const { filter, sinceRunId, isDescending = false, after = null } = request;
  const newest = new EndedRuns(sqlite).newest() ?? 0;
  const last = Math.min(request.untilRunId ?? newest, newest);
  const next = sqlite.prepare<object, number | null>(nextRunSql(isDescending)).pluck();
  const changesOf = runReader(sqlite, filter, isDescending);
  const first = isDescending ? last + 1 : sinceRunId;
  let runId = after?.runId ?? filter?.run ?? next.get({ run: first }) ?? null;
  for (; runId !== null && runId > sinceRunId && runId <= last; runId = next.get({ run: runId }) ?? null) {
    if (typeof filter?.run === 'number' && runId !== filter.run) return;
    for (const change of changesOf(runId, after?.runId === runId ? after : null))
      if (after === null || (isDescending ? isAfter(after, change) : isAfter(change, after))) yield change;
  }
}

/** A run with more rows than this is read in the order of its records. Others are sorted. */
const sortedMax = 5_000;

const selectChanges = `SELECT c.run_id AS runId, c.changed_at AS changedAt, c.resource AS resource, c.record_id AS recordId,
    c.operation AS operation, c.record AS record, c.before AS before FROM changes c`;

/**
 * Reads the changes of one run from the view `changes`, in order.
 *
 * @returns a generator of the changes of a run; only from the record of a change on, if one is given.
 */
function runReader(sqlite: Database.Database, filter: ChangeFilter | undefined, isDescending: boolean) {
  // Of one record, the operations are in this order: update, removal, insert.
  const [sign, direction, operations] = isDescending ? ['<=', 'DESC', 'ASC'] : ['>=', 'ASC', 'DESC'];
  const all = sqlite.prepare<[number], Change>(`${selectChanges} WHERE c.run_id = ?`);
  const inOrder = sqlite.prepare<[number, string, number], Change>(
    `${selectChanges} WHERE c.run_id = ? AND c.resource = ? AND c.record_id ${sign} ?
     ORDER BY c.record_id ${direction}, c.operation ${operations}`,
  );
  const one = sqlite.prepare<[number, string, number, string], Change>(
    `${selectChanges} WHERE c.run_id = ? AND c.resource = ? AND c.record_id = ? AND c.operation = ?`,
  );

  const isLong = (runId: number, columns: typeof runColumns) => {
    const rows = columns.map(([table, column]) => `SELECT 1 FROM ${table} WHERE ${column} = @runId`);
    const count = `SELECT count(*) FROM (${rows.join(' UNION ALL ')} LIMIT ${sortedMax})`;
    return sqlite.prepare<object, number>(count).pluck().get({ runId }) === sortedMax;
  };

  const isInTime = ({ from, to }: ChangeFilter, runId: number, resource: string) => {
    if (from === null && to === null) return true;
    const time = sqlite.prepare<object, string>(`SELECT ${timeOfRun('@runId', '@resource')}`).pluck();
    const at = time.get({ runId, resource }) ?? null;
    return at !== null && (from === null || at >= from) && (to === null || at < `${to}~`);
  };

  /** The records whose changes match, from the tables, because the view would make the text of each record first. */
  const keysOf = (
    wanted: ChangeFilter,
    run: number,
    resource: (typeof keptResources)[number],
    start: number,
  ) => {
    const browsable = browsableOf(resource);
    const [rows, ended] = (['row', 'history'] as const).map(side =>
      conditionOf(sqlite, browsable, { ...wanted, from: null, to: null }, side),
    ) as [ReturnType<typeof conditionOf>, ReturnType<typeof conditionOf>];
    // The plus keeps SQLite from using the other index.
    const [byRun, byRecord] = isLong(run, runColumns.slice(-2)) ? ['+', ''] : ['', '+'];
    const versions = (column: string, operation: string) =>
      `SELECT h.record_id, ${operation} FROM record_history h
       WHERE ${byRun}h.${column} = @run AND ${byRecord}h.resource = @resource AND ${byRecord}h.record_id ${sign} @start
         AND ${ended.sql}`;
    const keys = sqlite.prepare<unknown[], ChangeKey>(`SELECT recordId, operation FROM (
        SELECT t.id AS recordId, iif(t._first_seen_run_id = t._changed_run_id, 'insert', 'update') AS operation
        FROM ${browsable.table} t WHERE t._changed_run_id = @run AND t.id ${sign} @start AND ${rows.sql}
        UNION ALL ${versions('valid_from_run_id', "iif(h.first_seen_run_id = h.valid_from_run_id, 'insert', 'update')")}
        UNION ALL ${versions('valid_to_run_id', "'removal'")} AND h.ended_by = 'removal')
      WHERE @operation IS NULL OR operation = @operation ORDER BY recordId ${direction}, operation ${operations}`);
    const bound = { run, resource, start, operation: wanted.operation };
    return keys.iterate(...rows.values, ...ended.values, ...ended.values, bound);
  };

  return function* (runId: number, after: ChangeKey | null): Generator<Change> {
    if (filter === undefined && !isLong(runId, runColumns)) {
      const sorted = all.all(runId).sort((change, other) => (isAfter(change, other) ? 1 : -1));
      return yield* isDescending ? sorted.reverse() : sorted;
    }
    for (const resource of isDescending ? keptResources.toReversed() : keptResources) {
      const distance = after === null ? 0 : placeOf(resource) - placeOf(after.resource);
      if (isDescending ? distance > 0 : distance < 0) continue;
      const first = isDescending ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
      const start = after !== null && distance === 0 ? after.recordId : first;
      if (filter === undefined) yield* inOrder.iterate(runId, resource, start);
      else if ((filter.resource ?? resource) === resource && isInTime(filter, runId, resource))
        for (const { recordId, operation } of keysOf(filter, runId, resource, start)) {
          const change = one.get(runId, resource, recordId, operation);
          if (change !== undefined) yield change;
        }
    }
  };
}
