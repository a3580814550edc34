import type Database from 'better-sqlite3';
import { and, desc, eq, type SQL, sql } from 'drizzle-orm';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { prepare } from '../tables/statement.ts';
import { changes } from '../tables/view-columns.ts';
import { type Change, selectChanges } from './change.ts';
import { type ChangeCursor, type ChangeKey, placeOf } from './change-cursor.ts';
import { ChangeCursors } from './change-cursors.ts';

/** Some changes, in the order of `isAfter`. */
export interface ChangePage {
  readonly changes: readonly Change[];
  /** The position at which the next page begins. */
  readonly next: ChangeCursor;
  /** True if all changes of ended runs were delivered with this page. */
  readonly isComplete: boolean;
}

/**
 * Changes of one list by one run, after a position. "update" comes before "removal", and that before "insert".
 *
 * @param column the number of the record. With a plus before it, SQLite reads all changes of the run and sorts them. Without it,
 *   SQLite reads the history in the order of its records.
 */
const changesAfter =
  (column: SQL) =>
  (runId: number, resource: string, from: number, after: number, operation: string, limit: number) =>
    selectChanges()
      .where(
        and(
          eq(changes.runId, runId),
          eq(changes.resource, resource),
          sql`${column} >= ${from}`,
          sql`(${column} > ${after} or ${changes.operation} < ${operation})`,
        ),
      )
      .orderBy(column, desc(changes.operation))
      .limit(limit);
const inOrderOfRecords = changesAfter(sql`${changes.recordId}`);
const sorted = changesAfter(sql`+${changes.recordId}`);
type Place = Parameters<typeof sorted>;
/** A run whose changes are more pages than this is read in the order of its records. */
const pagesSorted = 5;

const runColumns = [
  ...keptResources.map(resource => [tableOf(resource), '_changed_run_id'] as const),
  ['record_history', 'valid_from_run_id'] as const,
  ['record_history', 'valid_to_run_id'] as const,
];
// By hand: a union over the tables of all lists.
const nextRun = `SELECT min(run_id) FROM (${runColumns
  // By hand: a part of the union.
  .map(([table, column]) => `SELECT min(${column}) AS run_id FROM ${table} WHERE ${column} > @runId`)
  .join(' UNION ALL ')})`;
// By hand: a union over the tables of all lists, too.
const rowsOfRun = `SELECT count(*) FROM (${runColumns
  // By hand: a part of the union.
  .map(([table, column]) => `SELECT 1 FROM ${table} WHERE ${column} = @runId`)
  .join(' UNION ALL ')} LIMIT @limit)`;

/** Reads changes page by page. Each page begins at a cursor, whatever runs did in between. */
export class ChangePages {
  readonly #sqlite: Database.Database;
  readonly #cursors: ChangeCursors;
  readonly #sorted: Database.Statement<Place, Change>;
  readonly #inOrder: Database.Statement<Place, Change>;
  readonly #nextRun: Database.Statement<{ runId: number }, number | null>;
  readonly #rowsOfRun: Database.Statement<{ runId: number; limit: number }, number>;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#cursors = new ChangeCursors(sqlite);
    this.#sorted = prepare(sqlite, sorted);
    this.#inOrder = prepare(sqlite, inOrderOfRecords);
    this.#nextRun = sqlite.prepare<{ runId: number }, number | null>(nextRun).pluck();
    this.#rowsOfRun = sqlite.prepare<{ runId: number; limit: number }, number>(rowsOfRun).pluck();
  }

  /** At most `limit` changes after a position. The caller must have checked that the position is in this mirror. */
  read(from: Pick<ChangeCursor, 'runId' | 'after'>, limit: number): ChangePage {
    const newest = new EndedRuns(this.#sqlite).newest() ?? 0;
    const found: Change[] = [];
    let { runId, after } = from;
    for (;;) {
      const next = after?.runId ?? this.#nextRun.get({ runId }) ?? null;
      if (next === null || next > newest)
        return { changes: found, next: this.#cursors.at(Math.max(newest, runId)), isComplete: true };
      found.push(...this.#changesOf(next, after, limit - found.length));
      if (found.length === limit)
        return {
          changes: found,
          next: this.#cursors.at(runId, keyOf(found.at(-1) ?? null)),
          isComplete: false,
        };
      runId = next;
      after = null;
    }
  }

  #changesOf(runId: number, after: ChangeKey | null, limit: number): Change[] {
    const rowsMax = limit * pagesSorted;
    const isLong = this.#rowsOfRun.get({ runId, limit: rowsMax }) === rowsMax;
    const read = isLong ? this.#inOrder : this.#sorted;
    const found: Change[] = [];
    const first = after === null ? 0 : placeOf(after.resource);
    for (const [at, resource] of keptResources.entries()) {
      if (at < first || found.length === limit) continue;
      const { recordId, operation } = (at === first ? after : null) ?? beforeAll;
      found.push(...read.all(runId, resource, recordId, recordId, operation, limit - found.length));
    }
    return found;
  }
}

/** Sorts before each change of a list. */
const beforeAll = { recordId: Number.MIN_SAFE_INTEGER, operation: '~' };

function keyOf(change: Change | null): ChangeKey | null {
  if (change === null) return null;
  const { runId, resource, recordId, operation } = change;
  return { runId, resource, recordId, operation };
}
