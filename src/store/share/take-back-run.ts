import type Database from 'better-sqlite3';
import { connectionContent, contentOf, type RecordValues } from '../../contract/content.ts';
import { arrayFields, type ListDefinition, lists, scalarFields } from '../../contract/lists.ts';
import { readWireConnection } from '../../contract/wire.ts';
import type { StoredVersion } from '../tables/record-lives.ts';
import { restoredVersions } from '../tables/restored-versions.ts';
import type { Selection } from './copied-tables.ts';

// All by hand: of two files that are open at once, each table says whose it is.

/** The runs of the mirror that have not ended, the newest first: they are still going on, or their process died. */
export function runsUnderWay(sqlite: Database.Database): number[] {
  return sqlite
    .prepare<[], number>("SELECT id FROM mirror.sync_runs WHERE status = 'running' ORDER BY id DESC")
    .pluck()
    .all();
}

/**
 * Takes back in the share what an unfinished run has committed so far. Rows that it wrote are deleted, and versions that it ended
 * are restored from the mirror's history.
 *
 * @throws MirrorFileError if a version in the history can't be read.
 */
export function takeBackRun(sqlite: Database.Database, runId: number, selection: Selection): void {
  for (const list of lists) takeBackList(sqlite, list, runId, selection);
  takeBackConnections(sqlite, runId);
  takeBackRejections(sqlite, runId);
  takeBackUnknownFields(sqlite, runId);
  sqlite.prepare('DELETE FROM main.record_history WHERE valid_to_run_id = ?').run(runId);
  sqlite.prepare('DELETE FROM main.sync_run_resources WHERE run_id = ?').run(runId);
  sqlite.prepare('DELETE FROM main.sync_runs WHERE id = ?').run(runId);
}

function takeBackList(
  sqlite: Database.Database,
  list: ListDefinition,
  runId: number,
  { withheld }: Selection,
): void {
  const { table, ownerColumn } = list;
  const written = `SELECT id FROM main.${table} WHERE _changed_run_id = ?`;
  for (const child of arrayFields(list))
    sqlite.prepare(`DELETE FROM main.${child.table} WHERE ${ownerColumn} IN (${written})`).run(runId);
  sqlite.prepare(`DELETE FROM main.${table} WHERE _changed_run_id = ?`).run(runId);
  const insert = inserter(sqlite, list);
  for (const restored of restoredVersions(list, versionsEndedBy(sqlite, list.resource, runId))) {
    const { id, record, firstSeenRunId, changedRunId } = restored;
    const content = withheld.isOf(list) ? '' : contentOf(list, record);
    insert(id, withheld.values(list, record), { content, firstSeenRunId, changedRunId });
  }
}

interface RowPast {
  /** Hexadecimal digits; empty in a list with withheld fields. */
  readonly content: string;
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
}

/** Writes a row with the id that it had, and its items. */
function inserter(sqlite: Database.Database, list: ListDefinition) {
  const columns = scalarFields(list).map(({ column }) => column);
  const past = ['_extra', '_content', '_first_seen_run_id', '_changed_run_id'];
  const insertRow = sqlite.prepare(
    `INSERT INTO main.${list.table} (${['id', ...columns, ...past].join(', ')})
     VALUES (${['?', ...columns.map(() => '?'), '?', 'unhex(?)', '?', '?'].join(', ')})`,
  );
  const insertItems = arrayFields(list).map(({ table, column }) =>
    sqlite.prepare(`INSERT INTO main.${table} (${list.ownerColumn}, position, ${column}) VALUES (?, ?, ?)`),
  );
  return (id: number, { scalars, arrays, extra }: RecordValues, row: RowPast): void => {
    insertRow.run(id, ...scalars, extra, row.content, row.firstSeenRunId, row.changedRunId);
    for (const [at, values] of arrays.entries())
      for (const [position, value] of values.entries()) insertItems[at]?.run(id, position, value);
  };
}

function takeBackConnections(sqlite: Database.Database, runId: number): void {
  sqlite.prepare('DELETE FROM main.connections WHERE _changed_run_id = ?').run(runId);
  const insert = sqlite.prepare(
    `INSERT INTO main.connections (id, name, _extra, _content, _first_seen_run_id, _changed_run_id)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  for (const { record, firstSeenRunId, validFromRunId } of versionsEndedBy(sqlite, 'connections', runId)) {
    // It was erased.
    if (record === null) continue;
    const connection = readWireConnection(record);
    const { id, name, extra } = connection;
    insert.run(id, name, extra, connectionContent(connection), firstSeenRunId, validFromRunId);
  }
}

/** If a record was rejected before the run, too, its last run is again the last earlier one that rejected records of the list. */
function takeBackRejections(sqlite: Database.Database, runId: number): void {
  sqlite.prepare('DELETE FROM main.rejected_records WHERE run_id = ?').run(runId);
  sqlite
    .prepare(
      `UPDATE main.rejected_records AS r SET last_run_id = coalesce(
         (SELECT max(l.run_id) FROM main.sync_run_resources l
          WHERE l.resource = r.resource AND l.rejected > 0 AND l.run_id >= r.run_id AND l.run_id < @runId),
         r.run_id)
       WHERE last_run_id = @runId`,
    )
    .run({ runId });
}

/** The counts stay those of the run, because earlier ones are not kept. */
function takeBackUnknownFields(sqlite: Database.Database, runId: number): void {
  sqlite.prepare('DELETE FROM main.unknown_fields WHERE first_seen_run_id = ?').run(runId);
  sqlite
    .prepare(
      `UPDATE main.unknown_fields AS f SET last_seen_run_id = coalesce(
         (SELECT max(l.run_id) FROM main.sync_run_resources l
          WHERE l.resource = f.resource AND l.run_id >= f.first_seen_run_id AND l.run_id < @runId),
         f.first_seen_run_id)
       WHERE last_seen_run_id = @runId`,
    )
    .run({ runId });
}

/** Reads the mirror, because the share's own history is cut, and can be left out. */
function versionsEndedBy(sqlite: Database.Database, resource: string, runId: number): StoredVersion[] {
  return sqlite
    .prepare<[number, string], StoredVersion>(
      `SELECT id, resource, record_id AS recordId, first_seen_run_id AS firstSeenRunId,
         valid_from_run_id AS validFromRunId, valid_to_run_id AS validToRunId, ended_by AS endedBy, record,
         lower(hex(content)) AS content
       FROM mirror.record_history WHERE valid_to_run_id = ? AND +resource = ?
       ORDER BY record_id`,
    )
    .all(runId, resource);
}
