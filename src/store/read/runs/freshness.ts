import { hash } from 'node:crypto';
import { type ResourceName, resourceNames } from '../../../contract/lists.ts';
import { type FieldsOf, oneOf, orNull, time, whole } from '../../../contract/shapes.ts';
import { newestComplete } from '../../tables/accepted.ts';
import { firstRow, firstValue, type Sqlite } from '../../tables/ask.ts';
import { isCompleteSql } from '../../tables/ended-runs.ts';
import { readMirror } from '../sqlite.ts';

/** When a list was completed last. */
export const freshness = {
  resource: oneOf(resourceNames),
  runId: orNull(whole('its last completed run')),
  lastCompletedAt: orNull(time('null if no run has completed')),
  readSince: orNull(time('since when that run is true')),
};
/** The same, as a type. */
export type Freshness = FieldsOf<typeof freshness>;

const never = { runId: null, lastCompletedAt: null, readSince: null };

/** The lists before the first run. */
export const neverCompleted: readonly Freshness[] = resourceNames.map(resource => ({ resource, ...never }));

/** When each list was completed last, from a few rows however many runs there are. Throws a MirrorFileError if the mirror can't be read. */
export function readFreshness(path: string): Freshness[] {
  return readMirror(path, sqlite => {
    const ofRun = `SELECT run_id AS runId, completed_at AS lastCompletedAt, coalesce(read_since, completed_at) AS readSince
      FROM sync_run_resources WHERE resource = ? AND run_id = ?`;
    return askedLists(sqlite).map(resource => {
      const runId = newestComplete(sqlite, resource, isCompleteSql, Date.now());
      return { resource, ...never, ...firstRow<Omit<Freshness, 'resource'>>(sqlite, ofRun, resource, runId) };
    });
  });
}

/** The lists that runs asked for, in their order: a list that nobody wants is not missing. All of them until a run has ended. */
export function askedLists(sqlite: Sqlite): ResourceName[] {
  const ended = "SELECT 1 FROM sync_runs WHERE status <> 'running' LIMIT 1";
  if (firstRow(sqlite, ended) === undefined) return [...resourceNames];
  const asked = 'SELECT 1 FROM sync_run_resources WHERE resource = ? LIMIT 1';
  const found = resourceNames.filter(resource => firstRow(sqlite, asked, resource) !== undefined);
  return found.length === 0 ? [...resourceNames] : found;
}

/** A short text that changes whenever a run or an erasure has changed the mirror, and only then: they record it in the same transaction. */
export function revisionOf(sqlite: Sqlite): string {
  const state = `SELECT r.id, r.status, r.started_at, r.completed_at, r.base_url,
         (SELECT group_concat(l.resource || ' ' || l.status || ' ' || coalesce(l.checksum, ''), ';')
          FROM sync_run_resources l WHERE l.run_id = r.id) AS lists,
         (SELECT max(leaf_index) FROM sync_receipts) AS receipt
       FROM sync_runs r ORDER BY r.id DESC LIMIT 1`;
  // Another share of the same runs can have less in it.
  const isShare = firstRow(sqlite, "SELECT 1 FROM sqlite_schema WHERE name = '_share'") !== undefined;
  const mark = isShare ? firstValue<Buffer>(sqlite, 'SELECT mark FROM _share') : null;
  const seen = [firstRow(sqlite, state) ?? [], mark?.toString('hex') ?? ''];
  return hash('sha256', JSON.stringify(seen), 'base64url').slice(0, 20);
}
