import type Database from 'better-sqlite3';
import { and, desc, eq } from 'drizzle-orm';
import { prepare } from '../tables/statement.ts';
import { changes } from '../tables/view-columns.ts';
import { wroteListSql } from '../tables/written-lists.ts';
import { type Change, selectChanges } from './change.ts';

const changesMax = 24;
/** Of one kind of change, by one run, in one list: so that many of one kind don't hide the others. */
const changesOfKindMax = 4;
/** Renamed connections are counted with no list, so they are looked for in the newest runs only. */
const runsSearchedForNamesMax = 20;

// By hand: a union, joined with rows that no table has.
// The first run that wrote a list found all of it new: that is no change. The rarer a kind of change, the more it shows.
const changeCounts = `
  SELECT l.run_id AS runId, l.resource, o.operation, o.at
  FROM sync_run_resources l
  JOIN (SELECT 'removal' AS operation, 1 AS at UNION ALL SELECT 'update', 2 UNION ALL SELECT 'insert', 3) o
  WHERE CASE o.operation WHEN 'removal' THEN l.removed WHEN 'update' THEN l.updated ELSE l.inserted END > 0
    AND l.status <> 'running'
    AND l.run_id > (SELECT min(f.run_id) FROM sync_run_resources f
                    WHERE f.resource = l.resource AND f.${wroteListSql})
  UNION ALL
  SELECT r.id, 'connections', 'update', 2
  FROM (SELECT id FROM sync_runs WHERE status <> 'running' ORDER BY id DESC LIMIT ${runsSearchedForNamesMax}) r
  ORDER BY 1 DESC, 4, 2 LIMIT ${changesMax + runsSearchedForNamesMax}`;

function changesOfKind(runId: number, resource: string, operation: Change['operation']) {
  return selectChanges()
    .where(and(eq(changes.runId, runId), eq(changes.resource, resource), eq(changes.operation, operation)))
    .orderBy(desc(changes.recordId))
    .limit(changesOfKindMax);
}

interface Kind {
  readonly runId: number;
  readonly resource: string;
  readonly operation: Change['operation'];
}

/** The latest changes, those of the newest run first, a few of each kind. */
export function readLatestChanges(sqlite: Database.Database): Change[] {
  const ofKind = prepare(sqlite, changesOfKind);
  const latest: Change[] = [];
  for (const { runId, resource, operation } of sqlite.prepare<[], Kind>(changeCounts).all()) {
    latest.push(...ofKind.all(runId, resource, operation));
    if (latest.length >= changesMax) break;
  }
  return latest.slice(0, changesMax);
}
