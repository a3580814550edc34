import type Database from 'better-sqlite3';
import { keptResources } from '../../contract/lists.ts';
import { firstValue } from '../tables/query.ts';
import { wroteList } from '../tables/written-lists.ts';
import { type Change, selectChange } from './change.ts';
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

const firstRunBetween = 'SELECT min(id) FROM sync_runs WHERE completed_at >= ? AND completed_at < ?';
const lastRunBetween = 'SELECT max(id) FROM sync_runs WHERE completed_at >= ? AND completed_at < ?';
const firstRunOfList = `SELECT min(run_id) FROM sync_run_resources WHERE resource = ? AND ${wroteList}`;
// Connections belong to no list: the first run that wrote any found them.
const firstRunOfAny = `SELECT min(run_id) FROM sync_run_resources WHERE ${wroteList}`;

const countOfList = `SELECT total(CASE ? WHEN 'removal' THEN removed WHEN 'update' THEN updated ELSE inserted END)
  FROM sync_run_resources WHERE resource = ? AND run_id BETWEEN ? AND ? AND status <> 'running'`;
const countOfConnections = `SELECT count(*) FROM changes c
  WHERE c.operation = ? AND c.resource = ? AND c.run_id BETWEEN ? AND ?`;
const runsWith = `SELECT run_id FROM sync_run_resources
  WHERE CASE ? WHEN 'removal' THEN removed WHEN 'update' THEN updated ELSE inserted END > 0
    AND resource = ? AND run_id BETWEEN ? AND ? AND status <> 'running' ORDER BY run_id DESC LIMIT ${changesShownMax}`;
const runsOfConnections = `SELECT DISTINCT c.run_id FROM changes c
  WHERE c.operation = ? AND c.resource = ? AND c.run_id BETWEEN ? AND ? ORDER BY 1 DESC LIMIT ${changesShownMax}`;
const changesOfRun = `${selectChange} FROM changes c
  WHERE c.run_id = ? AND c.resource = ? AND c.operation = ? ORDER BY c.record_id DESC LIMIT ${changesShownMax}`;

/**
 * What the runs of a period found new, changed and removed. The first run that wrote a list found all of it new: that is no change.
 * New exports are not among it: they are counted by the time of the export.
 */
export function readPeriodChanges(sqlite: Database.Database, { fromMs, toMs }: Span): ChangesOfKind[] {
  const bounds = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()] as const;
  const first = firstValue<number | null>(sqlite, firstRunBetween, ...bounds) ?? null;
  const last = firstValue<number | null>(sqlite, lastRunBetween, ...bounds) ?? null;
  if (first === null || last === null) return [];
  const ofRun = sqlite.prepare<[number, string, string], Change>(changesOfRun);
  return keptResources.flatMap(resource => {
    const isOfList = resource !== 'connections';
    const firstOfAll = isOfList
      ? firstValue<number | null>(sqlite, firstRunOfList, resource)
      : firstValue<number | null>(sqlite, firstRunOfAny);
    const from = Math.max(first, (firstOfAll ?? last) + 1);
    return operations
      .filter(operation => resource !== 'document-exports' || operation !== 'insert')
      .map(operation => {
        const range = [operation, resource, from, last] as const;
        const count = firstValue<number>(sqlite, isOfList ? countOfList : countOfConnections, ...range) ?? 0;
        const runs = sqlite
          .prepare<[string, string, number, number], number>(isOfList ? runsWith : runsOfConnections)
          .pluck()
          .all(...range);
        const changes: Change[] = [];
        for (const runId of runs) {
          if (changes.length < changesShownMax) changes.push(...ofRun.all(runId, resource, operation));
        }
        return { resource, operation, count, changes: changes.slice(0, changesShownMax) };
      })
      .filter(({ count }) => count > 0);
  });
}
