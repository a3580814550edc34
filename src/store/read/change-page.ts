import type Database from 'better-sqlite3';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { type Change, selectChange } from './change.ts';
import { type ChangeCursor, type ChangeKey, placeOf } from './change-cursor.ts';
import { ChangeCursors } from './change-cursors.ts';

/** Some changes, in the order of `isAfter`. */
export interface ChangePage {
  readonly changes: readonly Change[];
  /** Where the next page begins. */
  readonly next: ChangeCursor;
  /** True if all changes of ended runs were delivered with this page. */
  readonly isComplete: boolean;
}

interface Place {
  readonly runId: number;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: string;
  readonly limit: number;
}

// By hand: the view of changes, with a plus at some of its columns.
const changesOfRun = `${selectChange} FROM changes c WHERE c.run_id = @runId AND c.resource = @resource`;
// "update" comes before "removal", and that before "insert".
const inOrderOfRecords = `${changesOfRun}
  AND c.record_id >= @recordId AND (c.record_id > @recordId OR c.operation < @operation)
  ORDER BY c.record_id, c.operation DESC LIMIT @limit`;
// With the plus, SQLite reads all changes of the run and sorts them, and not the history in the order of its records.
const sorted = inOrderOfRecords
  .replaceAll('c.record_id', '+c.record_id')
  .replace('+c.record_id AS', 'c.record_id AS');
/** A run of more changes than so many pages is read in the order of its records. */
const pagesSorted = 5;

const runColumns = [
  ...keptResources.map(resource => [tableOf(resource), '_changed_run_id'] as const),
  ['record_history', 'valid_from_run_id'] as const,
  ['record_history', 'valid_to_run_id'] as const,
];
// By hand: a union over the tables of all lists.
const nextRun = `SELECT min(run_id) FROM (${runColumns
  // By hand: a part of it.
  .map(([table, column]) => `SELECT min(${column}) AS run_id FROM ${table} WHERE ${column} > @runId`)
  .join(' UNION ALL ')})`;
// By hand: the same.
const rowsOfRun = `SELECT count(*) FROM (${runColumns
  // By hand: a part of it.
  .map(([table, column]) => `SELECT 1 FROM ${table} WHERE ${column} = @runId`)
  .join(' UNION ALL ')} LIMIT @limit)`;

/** Reads changes page by page. Each page begins where a cursor says, whatever runs did in between. */
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
    this.#sorted = sqlite.prepare(sorted);
    this.#inOrder = sqlite.prepare(inOrderOfRecords);
    this.#nextRun = sqlite.prepare<{ runId: number }, number | null>(nextRun).pluck();
    this.#rowsOfRun = sqlite.prepare<{ runId: number; limit: number }, number>(rowsOfRun).pluck();
  }

  /** At most so many changes after a place; the caller has made sure that the place is in this mirror. */
  read(from: Pick<ChangeCursor, 'runId' | 'after'>, limit: number): ChangePage {
    const newest = new EndedRuns(this.#sqlite).newest() ?? 0;
    const changes: Change[] = [];
    let { runId, after } = from;
    for (;;) {
      const next = after?.runId ?? this.#nextRun.get({ runId }) ?? null;
      if (next === null || next > newest)
        return { changes, next: this.#cursors.at(Math.max(newest, runId)), isComplete: true };
      changes.push(...this.#changesOf(next, after, limit - changes.length));
      if (changes.length === limit)
        return { changes, next: this.#cursors.at(runId, keyOf(changes.at(-1) ?? null)), isComplete: false };
      runId = next;
      after = null;
    }
  }

  #changesOf(runId: number, after: ChangeKey | null, limit: number): Change[] {
    const rowsMax = limit * pagesSorted;
    const isLong = this.#rowsOfRun.get({ runId, limit: rowsMax }) === rowsMax;
    const read = isLong ? this.#inOrder : this.#sorted;
    const changes: Change[] = [];
    const first = after === null ? 0 : placeOf(after.resource);
    for (const [at, resource] of keptResources.entries()) {
      if (at < first || changes.length === limit) continue;
      const { recordId, operation } = (at === first ? after : null) ?? beforeAll;
      changes.push(...read.all({ runId, resource, recordId, operation, limit: limit - changes.length }));
    }
    return changes;
  }
}

/** Comes before each change of a list. */
const beforeAll = { recordId: Number.MIN_SAFE_INTEGER, operation: '~' };

function keyOf(change: Change | null): ChangeKey | null {
  if (change === null) return null;
  const { runId, resource, recordId, operation } = change;
  return { runId, resource, recordId, operation };
}
