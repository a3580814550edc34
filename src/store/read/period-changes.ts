import type Database from 'better-sqlite3';
import { and, desc, eq, gte, lt, max, min } from 'drizzle-orm';
import { keptResources } from '../../contract/lists.ts';
import { firstValue } from '../tables/query.ts';
import { syncRunResources, syncRuns } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';
import { changes as changesView } from '../tables/view-columns.ts';
import { wroteList } from '../tables/written-lists.ts';
import { type Change, selectChanges } from './change.ts';
import type { Span } from './report-period.ts';

/** Changes of one kind in one list that the runs of a period found. */
export interface ChangesOfKind {
  readonly resource: string;
  readonly operation: Change['operation'];
  readonly count: number;
  /** The newest few. */
  readonly changes: readonly Change[];
}

const changesShownMax = 6;
const operations = ['insert', 'update', 'removal'] as const;

const { id, completedAt } = syncRuns;
const { resource: listOfRun, runId: runOfList } = syncRunResources;

function runsBetween(from: string, to: string) {
  return select({ first: min(id), last: max(id) })
    .from(syncRuns)
    .where(and(gte(completedAt, from), lt(completedAt, to)));
}

function firstRunOfList(resource: string) {
  return select({ first: min(runOfList) })
    .from(syncRunResources)
    .where(and(eq(listOfRun, resource), wroteList));
}

/** Connections belong to no list. They were found by the first run that wrote any. */
function firstRunOfAny() {
  return select({ first: min(runOfList) })
    .from(syncRunResources)
    .where(wroteList);
}

function changesOfRun(runId: number, resource: string, operation: Change['operation']) {
  return selectChanges()
    .where(
      and(
        eq(changesView.runId, runId),
        eq(changesView.resource, resource),
        eq(changesView.operation, operation),
      ),
    )
    .orderBy(desc(changesView.recordId))
    .limit(changesShownMax);
}

// By hand: a value chooses the column.
const countOfList = `SELECT total(CASE ? WHEN 'removal' THEN removed WHEN 'update' THEN updated ELSE inserted END)
  FROM sync_run_resources WHERE resource = ? AND run_id BETWEEN ? AND ? AND status <> 'running'`;
// By hand: its parameters are those of `countOfList`, in their order.
const countOfConnections = `SELECT count(*) FROM changes c
  WHERE c.operation = ? AND c.resource = ? AND c.run_id BETWEEN ? AND ?`;
// By hand: a value chooses the column.
const runsWith = `SELECT run_id FROM sync_run_resources
  WHERE CASE ? WHEN 'removal' THEN removed WHEN 'update' THEN updated ELSE inserted END > 0
    AND resource = ? AND run_id BETWEEN ? AND ? AND status <> 'running' ORDER BY run_id DESC LIMIT ${changesShownMax}`;
// By hand: its parameters are those of `runsWith`, in their order.
const runsOfConnections = `SELECT DISTINCT c.run_id FROM changes c
  WHERE c.operation = ? AND c.resource = ? AND c.run_id BETWEEN ? AND ? ORDER BY 1 DESC LIMIT ${changesShownMax}`;

/**
 * The records that the runs of a period found new, changed and removed. The first run that wrote a list does not count, because all
 * of it was new. New exports are left out: they are counted by the time of the export.
 */
export function readPeriodChanges(sqlite: Database.Database, { fromMs, toMs }: Span): ChangesOfKind[] {
  const bounds = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()] as const;
  const { first, last } = prepare(sqlite, runsBetween).get(...bounds) ?? { first: null, last: null };
  if (first === null || last === null) return [];
  const ofRun = prepare(sqlite, changesOfRun);
  return keptResources.flatMap(resource => {
    const isOfList = resource !== 'connections';
    const firstOfAll = isOfList
      ? firstValue(sqlite, firstRunOfList, resource)
      : firstValue(sqlite, firstRunOfAny);
    const from = Math.max(first, (firstOfAll ?? last) + 1);
    return operations
      .filter(operation => resource !== 'document-exports' || operation !== 'insert')
      .map(operation => {
        const range = [operation, resource, from, last] as const;
        const numbers = (text: string) =>
          sqlite.prepare<[string, string, number, number], number>(text).pluck();
        const count = numbers(isOfList ? countOfList : countOfConnections).get(...range) ?? 0;
        const runs = numbers(isOfList ? runsWith : runsOfConnections).all(...range);
        const changes: Change[] = [];
        for (const runId of runs) {
          if (changes.length < changesShownMax) changes.push(...ofRun.all(runId, resource, operation));
        }
        return { resource, operation, count, changes: changes.slice(0, changesShownMax) };
      })
      .filter(({ count }) => count > 0);
  });
}
