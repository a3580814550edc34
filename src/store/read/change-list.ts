// All by hand: the filter chooses the tables, the conditions and the order.
import type Database from 'better-sqlite3';
import { and, eq } from 'drizzle-orm';
import { type Browsable, browsableOf, type ChangeFilter } from '../../contract/browsable.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { mergeSorted } from '../tables/merge-sorted.ts';
import { prepare } from '../tables/statement.ts';
import { changes } from '../tables/view-columns.ts';
import { timeOfRun } from '../tables/view-sql.ts';
import { type Change, selectChanges } from './change.ts';
import { type ChangeKey, isAfter, placeOf } from './change-cursor.ts';
import { allOf, conditionsOf, wordConditions } from './record-conditions.ts';
import type { Condition } from './words.ts';

/** Selects some of the changes that match a filter. */
export interface ChangeRequest {
  readonly filter: ChangeFilter;
  /** Changes of later runs than this. */
  readonly sinceRunId: number;
  /** True for the newest first. */
  readonly isDescending: boolean;
  /** Only changes after this one, in that order. */
  readonly after: ChangeKey | null;
}

interface Bounds {
  readonly isDescending: boolean;
  readonly after: ChangeKey | null;
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
    ([table, column]) => `SELECT ${pick}(${column}) AS run_id FROM ${table} WHERE ${column} ${sign} @runId`,
  );
  return `SELECT ${pick}(run_id) FROM (${each.join(' UNION ALL ')})`;
}

/** Rows that are read at once when they are filtered. */
const rowsPerTurn = 50_000;

function changeWith(runId: number, resource: string, recordId: number, operation: Change['operation']) {
  const key = [eq(changes.runId, runId), eq(changes.resource, resource), eq(changes.recordId, recordId)];
  return selectChanges().where(and(...key, eq(changes.operation, operation)));
}

/**
 * The changes of ended runs that match a filter, in order, one at a time. Now and then it yields null between two of them, so that
 * others have their turn.
 */
export function* changesThatFit(sqlite: Database.Database, request: ChangeRequest): Generator<Change | null> {
  const { filter, sinceRunId, isDescending, after } = request;
  const newest = new EndedRuns(sqlite).newest() ?? 0;
  const nextRun = sqlite.prepare<{ runId: number }, number | null>(nextRunSql(isDescending)).pluck();
  const change = prepare(sqlite, changeWith);
  let runId: number | null = after?.runId ?? null;
  if (runId === null) runId = nextRun.get({ runId: isDescending ? newest + 1 : sinceRunId }) ?? null;
  if (filter.run !== null && after === null) runId = filter.run;
  for (; runId !== null && runId > sinceRunId && runId <= newest; runId = nextRun.get({ runId }) ?? null) {
    if (filter.run !== null && runId !== filter.run) return;
    for (const resource of isDescending ? keptResources.toReversed() : keptResources) {
      for (const key of keysOfRun(sqlite, runId, resource, filter, { isDescending, after })) {
        const found = key && change.get(key.runId, key.resource, key.recordId, key.operation);
        yield found ?? null;
      }
      yield null;
    }
  }
}

/** The changes of one run and list that match. */
function* keysOfRun(
  sqlite: Database.Database,
  runId: number,
  resource: (typeof keptResources)[number],
  filter: ChangeFilter,
  bounds: Bounds,
): Generator<ChangeKey | null> {
  if (filter.resource !== null && filter.resource !== resource) return;
  if (isPassed(runId, resource, bounds) || !isInTime(sqlite, runId, resource, filter)) return;
  const browsable = browsableOf(resource);
  const ofRecord = { ...filter, from: null, to: null };
  const [ofRows, ofVersions] = (['row', 'history'] as const).map(side => {
    const conditions = conditionsOf(sqlite, browsable, ofRecord, side);
    return conditions && allOf([...conditions, ...wordConditions(browsable, filter.q, side)]);
  });
  if (ofRows == null || ofVersions == null) return;
  const part = { sqlite, runId, browsable, operation: filter.operation, ...bounds };
  const versions = keysOfVersions(part, ofVersions);
  const isBefore = (one: ChangeKey, other: ChangeKey) => isAfter(other, one) !== bounds.isDescending;
  try {
    let version = versions.next();
    for (const key of keysOfRows(part, ofRows)) {
      for (; key !== null && !version.done && isBefore(version.value, key); version = versions.next())
        yield fitting(version.value, bounds);
      yield key === null ? null : fitting(key, bounds);
    }
    for (; !version.done; version = versions.next()) yield fitting(version.value, bounds);
  } finally {
    // A statement that is not read to its end would keep its connection from being closed.
    versions.return(undefined);
  }
}

/** True for a list that comes before the list of the change `after`. */
function isPassed(runId: number, resource: string, { after, isDescending }: Bounds): boolean {
  if (after?.runId !== runId) return false;
  const [from, here] = [placeOf(after.resource), placeOf(resource)];
  return isDescending ? here > from : here < from;
}

function fitting(key: ChangeKey, { after, isDescending }: Bounds): ChangeKey | null {
  if (after === null) return key;
  const isPast = isDescending ? isAfter(after, key) : isAfter(key, after);
  return isPast ? key : null;
}

function isInTime(
  sqlite: Database.Database,
  runId: number,
  resource: string,
  { from, to }: ChangeFilter,
): boolean {
  if (from === null && to === null) return true;
  const sql = `SELECT ${timeOfRun('@runId', '@resource')}`;
  const at = sqlite.prepare<object, string | null>(sql).pluck().get({ runId, resource }) ?? null;
  return at !== null && (from === null || at >= from) && (to === null || at < `${to}~`);
}

/** The changes of a run in one list. */
interface Part extends Bounds {
  readonly sqlite: Database.Database;
  readonly runId: number;
  readonly browsable: Browsable;
  readonly operation: string | null;
}

/** A change, without the fields that all changes of the part have in common. */
type PartKey = Pick<ChangeKey, 'recordId' | 'operation'>;

const insertOrUpdate = (first: string, changed: string) => `iif(${first} = ${changed}, 'insert', 'update')`;

function isOperation(operation: string | null, first: string, changed: string): string {
  if (operation === null) return '1';
  return operation === 'removal' ? '0' : `${first} ${operation === 'insert' ? '=' : '<>'} ${changed}`;
}

/** The record at which the part begins: that of the change `after`, because it can have more changes. */
function startOf({ after, runId, browsable, isDescending }: Part): number {
  if (after !== null && after.runId === runId && after.resource === browsable.resource) return after.recordId;
  return isDescending ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
}

/** The run's changes whose row is still current, in order; null between two groups of rows. */
function* keysOfRows(part: Part, { sql, values }: Condition): Generator<ChangeKey | null> {
  const { sqlite, runId, browsable, operation, isDescending } = part;
  if (operation === 'removal') return;
  const { resource, table } = browsable;
  const [sign, last, direction] = isDescending ? ['<=', 'min', 'DESC'] : ['>=', 'max', 'ASC'];
  const turn = `SELECT id FROM ${table} WHERE _changed_run_id = ? AND id ${sign} ? ORDER BY id ${direction} LIMIT ${rowsPerTurn}`;
  const lastOfTurn = sqlite
    .prepare<[number, number], number | null>(`SELECT ${last}(id) FROM (${turn})`)
    .pluck();
  const rows = sqlite.prepare<(string | number)[], PartKey>(
    `SELECT t.id AS recordId, ${insertOrUpdate('t._first_seen_run_id', 't._changed_run_id')} AS operation
     FROM ${table} t WHERE t._changed_run_id = ? AND t.id BETWEEN ? AND ?
       AND ${isOperation(operation, 't._first_seen_run_id', 't._changed_run_id')} AND ${sql} ORDER BY t.id ${direction}`,
  );
  for (let from = startOf(part); ; ) {
    const to = lastOfTurn.get(runId, from) ?? null;
    if (to === null) return;
    for (const key of rows.iterate(runId, Math.min(from, to), Math.max(from, to), ...values))
      yield { runId, resource, ...key };
    yield null;
    from = isDescending ? to - 1 : to + 1;
  }
}

/** A run with more versions than this is read in the order of the records. */
const sortedMax = 5_000;

/** The run's removals, and its changes whose version has ended since, in order. */
function* keysOfVersions(part: Part, { sql, values }: Condition): Generator<ChangeKey> {
  const { sqlite, runId, browsable, operation, isDescending } = part;
  const countOf = (column: string) =>
    sqlite
      .prepare<[number], number>(
        `SELECT count(*) FROM (SELECT 1 FROM record_history WHERE ${column} = ? LIMIT ${sortedMax})`,
      )
      .pluck()
      .get(runId) ?? 0;
  const isMany = countOf('valid_from_run_id') + countOf('valid_to_run_id') >= sortedMax;
  // The plus makes SQLite use the other index.
  const [byRun, byRecord] = isMany ? ['+', ''] : ['', '+'];
  const [sign, direction] = isDescending ? ['<=', 'DESC'] : ['>=', 'ASC'];
  const arm = (column: string, told: string, condition: string) =>
    sqlite.prepare<(string | number)[], PartKey>(
      `SELECT h.record_id AS recordId, ${told} AS operation FROM record_history h
       WHERE ${byRun}h.${column} = ? AND ${byRecord}h.resource = ? AND ${byRecord}h.record_id ${sign} ? AND ${condition}
         AND ${sql} ORDER BY ${byRecord}h.record_id ${direction}`,
    );
  const { resource } = browsable;
  const began = ['h.first_seen_run_id', 'h.valid_from_run_id'] as const;
  const begun = arm('valid_from_run_id', insertOrUpdate(...began), isOperation(operation, ...began));
  const isRemoval = operation === null || operation === 'removal' ? "h.ended_by = 'removal'" : '0';
  const removed = arm('valid_to_run_id', "'removal'", isRemoval);
  const bound = [runId, resource, startOf(part), ...values];
  const keys = mergeSorted<PartKey>(
    [() => removed.iterate(...bound), () => begun.iterate(...bound)],
    (left, right) => {
      const [one, other] = [left, right].map(key => ({ runId, resource, ...key })) as [ChangeKey, ChangeKey];
      return isAfter(other, one) !== isDescending;
    },
  );
  for (const key of keys) yield { runId, resource, ...key };
}
