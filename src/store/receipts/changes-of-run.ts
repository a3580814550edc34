import type Database from 'better-sqlite3';
import { ChangesHash } from '../../audit/changes-hash.ts';
import { connectionContent, contentOf } from '../../contract/content.ts';
import { lists } from '../../contract/lists.ts';
import { contentBytes, hash16Hex, Sum } from '../../contract/sum.ts';
import { readWireConnection } from '../../contract/wire.ts';
import type { StoredVersion } from '../tables/record-lives.ts';
import { restoredVersions } from '../tables/restored-versions.ts';

/** What one run did to one list, or to the connections. */
export interface RunChanges {
  /** The changes hash of the receipt: over exactly the rows of the view `changes`. */
  readonly hash: ChangesHash;
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  /** The contents that the run put into the list. */
  readonly began: Sum;
  /** The contents that it removed; those that it updated away are not among them. */
  readonly gone: Sum;
}

type BegunRow = [id: number, isInsert: number, content: string];

const versionColumns = `id, resource, record_id AS recordId, first_seen_run_id AS firstSeenRunId,
  valid_from_run_id AS validFromRunId, valid_to_run_id AS validToRunId, ended_by AS endedBy, record,
  _fingerprint AS fingerprint`;

/**
 * Reads what a run changed in a list, or in the connections, from the rows that it wrote and the versions that it ended. Writer
 * and audit share it. Rows are found by their run, so a run that changed nothing costs three look-ups.
 *
 * @throws MirrorFileError where a version in the history can't be read.
 */
export function changesOfRun(sqlite: Database.Database, resource: string, runId: number): RunChanges {
  const hash = new ChangesHash();
  const began = new Sum();
  const gone = new Sum();
  const counts = { inserted: 0, updated: 0, removed: 0 };
  const begin = (isInsert: boolean, recordId: number, content: string) => {
    hash.add(isInsert ? 'insert' : 'update', recordId, content);
    counts[isInsert ? 'inserted' : 'updated']++;
    began.addHex(content);
  };
  for (const { recordId, content } of contentsOf(
    sqlite,
    resource,
    "valid_to_run_id = ? AND ended_by = 'removal'",
    runId,
  )) {
    hash.add('removal', recordId, content);
    counts.removed++;
    gone.addHex(content);
  }
  // A buffer for each content would take more than twice as long as all of this.
  const rows = sqlite
    .prepare<[number], BegunRow>(
      `SELECT id, _first_seen_run_id = _changed_run_id, lower(hex(_content))
       FROM ${tableOf(resource)} WHERE _changed_run_id = ?`,
    )
    .raw();
  for (const [id, isInsert, content] of rows.iterate(runId)) begin(isInsert === 1, id, sixteenBytes(content));
  for (const { isInsert, recordId, content } of contentsOf(
    sqlite,
    resource,
    'valid_from_run_id = ?',
    runId,
  )) {
    begin(isInsert, recordId, content);
  }
  return { hash, ...counts, began, gone };
}

/** The contents of the versions that a run ended by an update, which stand in no changes hash. */
export function updatedAway(sqlite: Database.Database, resource: string, runId: number): Sum {
  const sum = new Sum();
  const ended = contentsOf(sqlite, resource, "valid_to_run_id = ? AND ended_by = 'update'", runId);
  for (const { content } of ended) sum.addHex(content);
  return sum;
}

interface VersionContent {
  readonly recordId: number;
  readonly isInsert: boolean;
  readonly content: string;
}

function* contentsOf(
  sqlite: Database.Database,
  resource: string,
  condition: string,
  runId: number,
): Generator<VersionContent> {
  // The plus keeps SQLite from looking through all versions of the list: those of the run are fewer.
  const versions = sqlite
    .prepare<[number, string], StoredVersion>(
      `SELECT ${versionColumns} FROM record_history WHERE ${condition} AND +resource = ?`,
    )
    .iterate(runId, resource);
  const list = lists.find(each => each.resource === resource);
  if (list === undefined) {
    for (const { recordId, firstSeenRunId, validFromRunId, record } of versions) {
      const { id, name, extra } = readWireConnection(record);
      const content = connectionContent(id, name, extra).toString('hex');
      yield { recordId, isInsert: firstSeenRunId === validFromRunId, content };
    }
    return;
  }
  for (const { id, record, firstSeenRunId, changedRunId } of restoredVersions(list, versions)) {
    yield { recordId: id, isInsert: firstSeenRunId === changedRunId, content: contentOf(list, record) };
  }
}

function tableOf(resource: string): string {
  return lists.find(list => list.resource === resource)?.table ?? 'connections';
}

/** What others wrote in the place of a content makes another hash, and no error. */
function sixteenBytes(content: string): string {
  return content.length === 2 * contentBytes ? content : hash16Hex(content);
}
