import type Database from 'better-sqlite3';
import { receiptOrNull } from '../../audit/read-receipt.ts';
import { keptResources, lists } from '../../contract/lists.ts';
import { contentOfJson } from '../../contract/record-content.ts';
import { hash16, Sum } from '../../contract/sum.ts';
import { ContentSum } from '../tables/content-sums.ts';
import { tryToRead } from '../tables/readable.ts';
import { ChangesOfRuns } from './changes-of-runs.ts';
import { readSummedThrough } from './pruned.ts';

/** A record's version by the runs that it names, with what it says: a row's content, or the JSON of a version that ended. */
type Begun = [recordId: number, firstSeenRunId: number, fromRunId: number, said: string];

/** Which versions are meant: those that began after one run and up to another, and still stood after a third. */
interface VersionRange {
  readonly beganAfter: number;
  readonly beganThrough: number;
  readonly stoodAfter: number;
}

/** Keeps the sum over what runs wrote before an upgrade, as the rows of the upgraded mirror say it. */
export function keepProvenance(sqlite: Database.Database): void {
  const through = readSummedThrough(sqlite);
  for (const resource of keptResources)
    new ContentSum(sqlite, 'before_pruning', resource).replace(sumThrough(sqlite, resource, through));
}

/** The sum that is kept of a resource, as its rows and versions say it: over what runs up to one began, and what still stood after it. */
export function sumThrough(sqlite: Database.Database, resource: string, through: number): Sum {
  return sumOfBegun(sqlite, resource, { beganAfter: 0, beganThrough: through, stoodAfter: through });
}

/**
 * Sums up which runs first saw and wrote each version that is kept of a resource, and what it says. Of runs whose ended versions were deleted no
 * changes hash can be computed, so this sum takes its place. A row that is updated later moves into the history with the same
 * numbers and the same content, so the sum stays as it is until more is deleted.
 */
export function sumOfBegun(sqlite: Database.Database, resource: string, range: VersionRange): Sum {
  const table = lists.find(list => list.resource === resource)?.table ?? 'connections';
  const { beganAfter, beganThrough, stoodAfter } = range;
  const sum = new Sum();
  const rows = sqlite
    .prepare<[number, number], Begun>(
      `SELECT id, _first_seen_run_id, _changed_run_id, lower(hex(_content)) FROM ${table}
       WHERE _changed_run_id > ? AND _changed_run_id <= ?`,
    )
    .raw();
  for (const row of rows.iterate(beganAfter, beganThrough)) sum.add(hash16(row.join(' ')));
  const versions = sqlite
    .prepare<[string, number, number, number], Begun>(
      `SELECT record_id, first_seen_run_id, valid_from_run_id, record FROM record_history
       WHERE resource = ? AND valid_from_run_id > ? AND valid_from_run_id <= ? AND valid_to_run_id > ?`,
    )
    .raw();
  for (const row of versions.iterate(resource, beganAfter, beganThrough, stoodAfter))
    sum.add(hashOfVersion(resource, row));
  return sum;
}

/** The same over the versions that ended after one run and up to another, and had begun by the first. */
export function sumOfEnded(sqlite: Database.Database, resource: string, after: number, through: number): Sum {
  const sum = new Sum();
  const versions = sqlite
    .prepare<[string, number, number, number], Begun>(
      `SELECT record_id, first_seen_run_id, valid_from_run_id, record FROM record_history
       WHERE +resource = ? AND valid_to_run_id > ? AND valid_to_run_id <= ? AND valid_from_run_id <= ?`,
    )
    .raw();
  for (const row of versions.iterate(resource, after, through, after)) sum.add(hashOfVersion(resource, row));
  return sum;
}

/** Whether what the runs after one and up to another changed is, by rows and history, what their receipts say of it. */
export function isAsReceipted(
  sqlite: Database.Database,
  resource: string,
  after: number,
  through: number,
): boolean {
  const changes = new ChangesOfRuns(sqlite, resource);
  const receipts = sqlite
    .prepare<[number, number], [runId: number, receipt: string]>(
      'SELECT run_id, receipt FROM sync_receipts WHERE run_id > ? AND run_id <= ?',
    )
    .raw();
  return receipts.all(after, through).every(([runId, text]) => {
    const receipt = receiptOrNull(text);
    const lists = receipt?.kind === 'run' ? receipt.lists : [];
    const said = lists.find(list => list.resource === resource)?.changes;
    const found = tryToRead(() => changes.of(runId));
    return 'value' in found && (said === undefined ? found.value.count === 0 : found.value.digest === said);
  });
}

function hashOfVersion(resource: string, [recordId, firstSeen, from, json]: Begun): Buffer {
  const content = tryToRead(() => contentOfJson(resource, json));
  // What docmirror can't have written comes to another sum, and to no error.
  const said = 'value' in content ? content.value : json;
  return hash16([recordId, firstSeen, from, said].join(' '));
}
