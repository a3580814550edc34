import type Database from 'better-sqlite3';
import { arrayFields, type ListDefinition, lists, type Scalar, scalarFields } from '../../contract/lists.ts';
import { readContent } from '../../contract/page.ts';
import { readRecords } from '../../contract/record.ts';
import { Sum } from '../../contract/sum.ts';
import { readWireConnection } from '../../contract/wire.ts';
import { MirrorFileError } from '../../errors.ts';
import type { EndedRun, PublishSource, RowSum, SourceChange, SourceRow } from '../../publish/source.ts';
import { openMirrorForReading } from '../file/open.ts';
import { lastRunBefore } from '../receipts/pruned.ts';
import { arrayOf } from '../tables/view-sql.ts';

/**
 * Opens a mirror for a publication: its rows and changes run by run, from one state of the file.
 *
 * @throws MirrorFileError if there is no mirror, it can't be read, or none of its runs has ended.
 */
export function openPublishSource(path: string): PublishSource {
  const file = openMirrorForReading(path);
  const { sqlite } = file;
  try {
    sqlite.exec('BEGIN');
    // Each receipt names the mirror, and the first one is written when its first run ends.
    const first = "SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index LIMIT 1";
    const mirrorId = sqlite.prepare<[], string>(first).pluck().get();
    if (mirrorId === undefined)
      throw new MirrorFileError(`No run of ${path} has ended yet. Make one with "docmirror sync".`);
    // Prepared once, because the view is long, and there can be thousands of runs.
    const changes = sqlite.prepare<[number], SourceChange>(
      `SELECT run_id AS runId, changed_at AS changedAt, resource, record_id AS recordId, operation, record
       FROM changes WHERE run_id = ?`,
    );
    return {
      mirrorId,
      lastRunBeforeRebuild: lastRunBefore(sqlite, 'rebuild'),
      runs: () => endedRuns(sqlite),
      rowCountSince: runId => rowCountSince(sqlite, runId),
      rows: (resource, runId) => rowsOf(sqlite, resource, runId),
      changes: runId => changes.iterate(runId),
      sumAfter: (resource, runId) => sumAfter(sqlite, resource, runId),
      [Symbol.dispose]: () => file.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Changes of a run that is not over can't be read yet, nor can those of later runs. */
function endedRuns(sqlite: Database.Database): EndedRun[] {
  const runs = sqlite.prepare<[], EndedRun>(
    `SELECT id AS runId, started_at AS startedAt FROM sync_runs
     WHERE id < coalesce((SELECT min(id) FROM sync_runs WHERE status = 'running'), 9e18) ORDER BY id`,
  );
  return runs.all();
}

function rowCountSince(sqlite: Database.Database, runId: number): number {
  const changed = 'SELECT total(inserted + updated + removed) FROM sync_run_resources WHERE run_id > ?';
  return sqlite.prepare<[number], number>(changed).pluck().get(runId) ?? 0;
}

/** The versions that a run removed, those that it wrote and that have ended since, and those that are current. */
function* rowsOf(sqlite: Database.Database, resource: string, runId: number): Generator<SourceRow> {
  const list = lists.find(each => each.resource === resource);
  for (const version of versionsOf(sqlite, resource, "valid_to_run_id = ? AND ended_by = 'removal'", runId))
    yield* restored(list, version, true);
  for (const version of versionsOf(sqlite, resource, 'valid_from_run_id = ?', runId))
    yield* restored(list, version, false);
  const values = list === undefined ? ['t.name'] : valuesOf(list);
  const rows = sqlite.prepare<[number], readonly Scalar[]>(
    `SELECT t.id, t._first_seen_run_id, t._changed_run_id, t._extra, lower(hex(t._content)), ${values.join(', ')}
     FROM ${list?.table ?? 'connections'} t WHERE t._changed_run_id = ? ORDER BY t.id`,
  );
  const arraysFrom = values.length - (list === undefined ? 0 : arrayFields(list).length);
  for (const [id, firstSeenRunId, changedRunId, extra, content, ...own] of rows.raw().iterate(runId))
    yield {
      id: id as number,
      values: own.map((value, at) => (at < arraysFrom ? value : JSON.parse(String(value)))),
      firstSeenRunId: firstSeenRunId as number,
      changedRunId: changedRunId as number,
      extra: extra as string | null,
      content: String(content),
      isRemoved: false,
    };
}

/** The columns of a list's rows, the arrays last. Each array is JSON. */
function valuesOf(list: ListDefinition): string[] {
  return [
    ...scalarFields(list).map(({ column }) => `t.${column}`),
    ...arrayFields(list).map(field => arrayOf(list, field, 'value', field.column)),
  ];
}

type Version = Omit<SourceRow, 'values' | 'extra' | 'isRemoved'> & { readonly record: string | null };

function versionsOf(sqlite: Database.Database, resource: string, condition: string, runId: number) {
  return sqlite
    .prepare<[number, string], Version>(
      `SELECT record_id AS id, first_seen_run_id AS firstSeenRunId, valid_from_run_id AS changedRunId,
         lower(hex(content)) AS content, record
       FROM record_history WHERE ${condition} AND +resource = ? ORDER BY id`,
    )
    .iterate(runId, resource);
}

/** An ended version, with the columns that it was written from. An erased version of a list has none. */
function* restored(
  list: ListDefinition | undefined,
  version: Version,
  isRemoved: boolean,
): Generator<SourceRow> {
  const { record, ...row } = version;
  if (list === undefined) {
    const { name, extra } = record === null ? { name: null, extra: null } : readWireConnection(record);
    yield { ...row, values: [name], extra, isRemoved };
  } else if (record !== null) {
    const read = readRecords(list, readContent(Buffer.from(`[${record}]`))).records[0];
    if (read === undefined)
      throw new MirrorFileError(
        `A version of ${list.resource} ${row.id} is not a record. "docmirror verify" shows what else is wrong.`,
      );
    yield { ...row, values: [...read.scalars, ...read.arrays], extra: read.extra, isRemoved };
  }
}

/** As the run recorded it. No run records connections, so these are added up from their versions. */
function sumAfter(sqlite: Database.Database, resource: string, runId: number): RowSum {
  if (resource !== 'connections') {
    const recorded = sqlite.prepare<[string, number], RowSum>(
      `SELECT record_count AS recordCount, checksum AS contentSum FROM sync_run_resources
       WHERE resource = ? AND run_id <= ? AND checksum IS NOT NULL ORDER BY run_id DESC LIMIT 1`,
    );
    return recorded.get(resource, runId) ?? { recordCount: 0, contentSum: new Sum().toString() };
  }
  const contents = sqlite.prepare<{ runId: number }, string>(
    `SELECT lower(hex(_content)) FROM connections WHERE _changed_run_id <= @runId
     UNION ALL SELECT lower(hex(content)) FROM record_history
     WHERE resource = 'connections' AND valid_from_run_id <= @runId AND valid_to_run_id > @runId`,
  );
  const sum = new Sum();
  for (const content of contents.pluck().iterate({ runId })) sum.addHex(content);
  return { recordCount: sum.count, contentSum: sum.toString() };
}
