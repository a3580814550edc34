import type Database from 'better-sqlite3';
import { ChangesHash, type Operation, operations } from '../../audit/changes-hash.ts';
import { connectionContent, contentOf } from '../../contract/content.ts';
import { lists } from '../../contract/lists.ts';
import { contentBytes, hash16Hex, Sum } from '../../contract/sum.ts';
import { readWireConnection } from '../../contract/wire.ts';
import { type StoredVersion, versionColumns } from '../tables/record-lives.ts';
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

interface RecordContent {
  readonly recordId: number;
  /** 32 hexadecimal digits. */
  readonly content: string;
}

/**
 * Reads what a run changed in a list, or in the connections, from the rows that it wrote and the versions that it ended. Writer
 * and audit share it. Rows are found by their run, so a run that changed nothing costs a few look-ups; SQLite sorts what a run
 * changed, so that none of it is held in memory.
 *
 * @throws MirrorFileError where a version in the history can't be read.
 * @throws RangeError where the history holds a version twice.
 */
export function changesOfRun(sqlite: Database.Database, resource: string, runId: number): RunChanges {
  const hash = new ChangesHash();
  const sums = { insert: new Sum(), removal: new Sum(), update: new Sum() };
  for (const operation of operations) {
    for (const { recordId, content } of changedRecords(sqlite, resource, runId, operation)) {
      hash.add(operation, recordId, content);
      sums[operation].addHex(content);
    }
  }
  const { insert, removal, update } = sums;
  const counts = { inserted: insert.count, updated: update.count, removed: removal.count };
  return { hash, ...counts, began: insert.plus(update), gone: removal };
}

/** The contents of the versions that a run ended by an update, which stand in no changes hash. */
export function updatedAway(sqlite: Database.Database, resource: string, runId: number): Sum {
  const sum = new Sum();
  const ended = versionContents(sqlite, resource, "valid_to_run_id = ? AND ended_by = 'update'", runId);
  for (const { content } of ended) sum.addHex(content);
  return sum;
}

/** The records that a run changed by one operation, in the order of their ids as texts. */
function changedRecords(
  sqlite: Database.Database,
  resource: string,
  runId: number,
  operation: Operation,
): Iterable<RecordContent> {
  if (operation === 'removal')
    return versionContents(sqlite, resource, "valid_to_run_id = ? AND ended_by = 'removal'", runId);
  const sign = operation === 'insert' ? '=' : '<>';
  return merged(
    rowContents(
      sqlite,
      resource,
      `_changed_run_id = ? AND _first_seen_run_id ${sign} _changed_run_id`,
      runId,
    ),
    versionContents(
      sqlite,
      resource,
      `valid_from_run_id = ? AND first_seen_run_id ${sign} valid_from_run_id`,
      runId,
    ),
  );
}

function* rowContents(
  sqlite: Database.Database,
  resource: string,
  condition: string,
  runId: number,
): Generator<RecordContent> {
  // A buffer for each content would take more than twice as long as all of this.
  const rows = sqlite
    .prepare<[number], [recordId: number, content: string]>(
      `SELECT id, lower(hex(_content)) FROM ${tableOf(resource)} WHERE ${condition} ORDER BY CAST(id AS TEXT)`,
    )
    .raw();
  for (const [recordId, content] of rows.iterate(runId)) yield { recordId, content: sixteenBytes(content) };
}

function* versionContents(
  sqlite: Database.Database,
  resource: string,
  condition: string,
  runId: number,
): Generator<RecordContent> {
  const versions = versionsInOrder(sqlite, resource, condition, runId);
  const list = lists.find(each => each.resource === resource);
  if (list === undefined) {
    for (const { recordId, record } of versions) {
      const { id, name, extra } = readWireConnection(record);
      yield { recordId, content: connectionContent(id, name, extra).toString('hex') };
    }
    return;
  }
  for (const { id, record } of restoredVersions(list, versions))
    yield { recordId: id, content: contentOf(list, record) };
}

function* versionsInOrder(
  sqlite: Database.Database,
  resource: string,
  condition: string,
  runId: number,
): Generator<StoredVersion> {
  // Ids alone are sorted, not whole records. The plus keeps SQLite from looking through all versions of the list.
  const ids = sqlite
    .prepare<[number, string], number>(
      `SELECT id FROM record_history WHERE ${condition} AND +resource = ? ORDER BY CAST(record_id AS TEXT)`,
    )
    .pluck();
  const version = sqlite.prepare<[number], StoredVersion>(
    `SELECT ${versionColumns} FROM record_history WHERE id = ?`,
  );
  for (const id of ids.iterate(runId, resource)) yield version.get(id) as StoredVersion;
}

/** Both in one order; nothing is held of either. */
function* merged(rows: Iterable<RecordContent>, versions: Iterable<RecordContent>): Generator<RecordContent> {
  const rest = versions[Symbol.iterator]();
  try {
    let next = rest.next();
    for (const row of rows) {
      for (; !next.done && String(next.value.recordId) < String(row.recordId); next = rest.next())
        yield next.value;
      yield row;
    }
    for (; !next.done; next = rest.next()) yield next.value;
  } finally {
    // A statement that is left half read would keep its connection from being closed.
    rest.return?.();
  }
}

function tableOf(resource: string): string {
  return lists.find(list => list.resource === resource)?.table ?? 'connections';
}

/** What others wrote in the place of a content makes another hash, and no error. */
function sixteenBytes(content: string): string {
  return content.length === 2 * contentBytes ? content : hash16Hex(content);
}
