import type Database from 'better-sqlite3';
import { browsableOf, type ChangeFilter } from '../../contract/browsable.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { timeOfRun } from '../tables/view-sql.ts';
import { allOf, type Condition, conditionsOf, wordConditions } from './browse.ts';
import type { Change } from './change-cursor.ts';
import {
  type ChangeCursor,
  type ChangeKey,
  cursorAt,
  isAfter,
  type LostCursor,
  lossOf,
  placeOf,
} from './change-cursor.ts';

/** Selects some of the changes of ended runs. */
export interface ChangeRequest {
  /** Only changes that match; all if it is left out. */
  readonly filter?: ChangeFilter;
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

/**
 * The changes that a request selects, one at a time: by run, list, record and operation. Even if they are many, they take no memory.
 * After each list it yields null, so that others have their turn.
 */
export function* changesThatFit(sqlite: Database.Database, request: ChangeRequest): Generator<Change | null> {
  const { filter, sinceRunId, isDescending = false, after = null } = request;
  const newest = new EndedRuns(sqlite).newest() ?? 0;
  const last = Math.min(request.untilRunId ?? newest, newest);
  const next = sqlite.prepare<object, number | null>(nextRunSql(isDescending)).pluck();
  const reader = new RunChanges(sqlite, filter, isDescending);
  const first = isDescending ? last + 1 : sinceRunId;
  let runId = after?.runId ?? filter?.run ?? next.get({ run: first }) ?? null;
  for (; runId !== null && runId > sinceRunId && runId <= last; runId = next.get({ run: runId }) ?? null) {
    if (typeof filter?.run === 'number' && runId !== filter.run) return;
    const isPast = (change: Change) =>
      after === null || (isDescending ? isAfter(after, change) : isAfter(change, after));
    for (const changes of reader.read(runId, after?.runId === runId ? after : null)) {
      for (const change of changes) if (isPast(change)) yield change;
      yield null;
    }
  }
}

/** Some changes, in the order of `isAfter`. */
export interface ChangePage {
  readonly changes: readonly Change[];
  /** The position at which the next page begins. */
  readonly next: ChangeCursor;
  /** True if all changes of ended runs were delivered with this page. */
  readonly isComplete: boolean;
}

/** At most `limit` changes after a cursor or, without one, after a run; all from one state of the file. */
export function readChangePage(
  sqlite: Database.Database,
  from: ChangeCursor | Pick<ChangeCursor, 'runId' | 'after'>,
  limit: number,
): ChangePage | LostCursor {
  const read = sqlite.transaction((): ChangePage | LostCursor => {
    const loss = 'mirrorId' in from ? lossOf(sqlite, from) : null;
    if (loss !== null) return loss;
    const { runId: sinceRunId, after } = from;
    const found = changesThatFit(sqlite, { sinceRunId, after })
      .filter(change => change !== null)
      .take(limit + 1)
      .toArray();
    const changes = found.slice(0, limit);
    const newest = new EndedRuns(sqlite).newest() ?? 0;
    const isComplete = found.length <= limit;
    if (isComplete) return { changes, next: cursorAt(sqlite, Math.max(newest, sinceRunId)), isComplete };
    const last = keyOf(changes.at(-1) as Change);
    const delivered = changes.findLast(({ runId }) => runId < last.runId)?.runId;
    return { changes, next: cursorAt(sqlite, delivered ?? sinceRunId, last), isComplete };
  });
  return read();
}

function keyOf({ runId, resource, recordId, operation }: Change): ChangeKey {
  return { runId, resource, recordId, operation };
}

/** A run with more rows than this is read in the order of its records. Others are sorted. */
const sortedMax = 5_000;

/** Reads the changes of one run from the view `changes`. */
class RunChanges {
  readonly #sqlite: Database.Database;
  readonly #filter: ChangeFilter | undefined;
  readonly #isDescending: boolean;
  readonly #statements = new Map<string, Database.Statement<unknown[], Change>>();

  constructor(sqlite: Database.Database, filter: ChangeFilter | undefined, isDescending: boolean) {
    this.#sqlite = sqlite;
    this.#filter = filter;
    this.#isDescending = isDescending;
  }

  /** The changes in order, in one or more parts; only from the record of a change on, if it is not null. */
  *read(runId: number, after: ChangeKey | null): Generator<Iterable<Change>> {
    if (this.#filter === undefined && !this.#isLong(runId, runColumns)) {
      const direction = this.#isDescending ? -1 : 1;
      const all = this.#prepare(`${selectChanges} WHERE c.run_id = ?`).all(runId);
      yield all.sort((one, other) => (isAfter(one, other) ? direction : -direction));
      return;
    }
    for (const resource of this.#isDescending ? keptResources.toReversed() : keptResources) {
      const distance = after === null ? 0 : placeOf(resource) - placeOf(after.resource);
      if (this.#isDescending ? distance > 0 : distance < 0) continue;
      const first = this.#isDescending ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
      const start = after !== null && distance === 0 ? after.recordId : first;
      const [sign, ...directions] = this.#order;
      yield this.#filter !== undefined
        ? this.#matching(this.#filter, runId, resource, start)
        : this.#prepare(
            `${selectChanges} WHERE c.run_id = ? AND c.resource = ? AND c.record_id ${sign} ?
             ORDER BY c.record_id ${directions[0]}, c.operation ${directions[1]}`,
          ).iterate(runId, resource, start);
    }
  }

  /** Finds the numbers of the records in the tables, because the view would make the text of each record first. */
  *#matching(
    filter: ChangeFilter,
    runId: number,
    resource: (typeof keptResources)[number],
    start: number,
  ): Generator<Change> {
    if (filter.resource !== null && filter.resource !== resource) return;
    if (!this.#isInTime(filter, runId, resource)) return;
    const browsable = browsableOf(resource);
    const conditions = (['row', 'history'] as const).map(side => {
      const found = conditionsOf(this.#sqlite, browsable, { ...filter, from: null, to: null }, side);
      return found && allOf([...found, ...wordConditions(browsable, filter.q, side)]);
    });
    const [ofRows, ofVersions] = conditions as [Condition | null, Condition | null];
    if (ofRows === null || ofVersions === null) return;
    const [sign, ...directions] = this.#order;
    // The plus keeps SQLite from using the other index.
    const isLong = this.#isLong(runId, runColumns.slice(-2));
    const [byRun, byRecord] = isLong ? ['+', ''] : ['', '+'];
    const versions = (column: string, operation: string) =>
      `SELECT h.record_id, ${operation} FROM record_history h
       WHERE ${byRun}h.${column} = @run AND ${byRecord}h.resource = @resource AND ${byRecord}h.record_id ${sign} @start
         AND ${ofVersions.sql}`;
    const keys = `SELECT recordId, operation FROM (
        SELECT t.id AS recordId, iif(t._first_seen_run_id = t._changed_run_id, 'insert', 'update') AS operation
        FROM ${browsable.table} t WHERE t._changed_run_id = @run AND t.id ${sign} @start AND ${ofRows.sql}
        UNION ALL ${versions('valid_from_run_id', "iif(h.first_seen_run_id = h.valid_from_run_id, 'insert', 'update')")}
        UNION ALL ${versions('valid_to_run_id', "'removal'")} AND h.ended_by = 'removal')
      WHERE @operation IS NULL OR operation = @operation
      ORDER BY recordId ${directions[0]}, operation ${directions[1]}`;
    const values = [...ofRows.values, ...ofVersions.values, ...ofVersions.values];
    const bound = { run: runId, resource, start, operation: filter.operation };
    const change = this.#prepare(
      `${selectChanges} WHERE c.run_id = ? AND c.resource = ? AND c.record_id = ? AND c.operation = ?`,
    );
    for (const key of this.#sqlite.prepare<unknown[], ChangeKey>(keys).iterate(...values, bound)) {
      const found = change.get(runId, resource, key.recordId, key.operation);
      if (found !== undefined) yield found;
    }
  }

  #isInTime({ from, to }: ChangeFilter, runId: number, resource: string): boolean {
    if (from === null && to === null) return true;
    const time = this.#sqlite
      .prepare<unknown[], string>(`SELECT ${timeOfRun('@runId', '@resource')}`)
      .pluck();
    const at = time.get({ runId, resource }) ?? null;
    return at !== null && (from === null || at >= from) && (to === null || at < `${to}~`);
  }

  #isLong(runId: number, columns: typeof runColumns): boolean {
    const rows = columns.map(([table, column]) => `SELECT 1 FROM ${table} WHERE ${column} = @runId`);
    const count = `SELECT count(*) FROM (${rows.join(' UNION ALL ')} LIMIT ${sortedMax})`;
    return this.#sqlite.prepare<object, number>(count).pluck().get({ runId }) === sortedMax;
  }

  /** The comparison with the first record, and the directions of records and of operations: update, removal, insert. */
  get #order(): readonly [string, string, string] {
    return this.#isDescending ? ['<=', 'DESC', 'ASC'] : ['>=', 'ASC', 'DESC'];
  }

  /** The view is long, and there can be thousands of runs. */
  #prepare(sql: string): Database.Statement<unknown[], Change> {
    const prepared = this.#statements.get(sql) ?? this.#sqlite.prepare<unknown[], Change>(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

const selectChanges = `SELECT c.run_id AS runId, c.changed_at AS changedAt, c.resource AS resource, c.record_id AS recordId,
    c.operation AS operation, c.record AS record, c.before AS before FROM changes c`;
