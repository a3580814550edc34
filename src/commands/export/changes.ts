import { dirname, join } from 'node:path';
import { keptResources } from '../../contract/lists.ts';
import { ndjsonLine } from '../../render/change-feed.ts';
import { flatChanges } from '../../render/flat-changes.ts';
import { AtomicFile } from '../../store/file/atomic-file.ts';
import { makeFolders } from '../../store/file/folders.ts';
import type { ExportColumn, ExportValue } from '../../store/read/export-tables.ts';
import type { Change } from '../../store/read/mirror-reader.ts';
import type { ChangeRange } from '../change-cursor.ts';
import { writeTable } from './table.ts';
import type { ExportTask, WrittenFile } from './task.ts';

/** The run's number is no column: it is in the folder's name, as Hive-style partitions have it. */
const columns: readonly ExportColumn[] = [
  { name: 'changed_at', kind: 'instant' },
  { name: 'resource', kind: 'text' },
  { name: 'record_id', kind: 'integer' },
  { name: 'operation', kind: 'text' },
  { name: 'record', kind: 'json' },
  { name: 'before', kind: 'json' },
];

/** Writes the changes of each run of a range into a folder of its own; a run that changed nothing has none. */
export async function* exportChanges(
  task: ExportTask,
  { sinceRunId, untilRunId, after }: ChangeRange,
): AsyncGenerator<WrittenFile> {
  const { reader, isWanted } = task;
  const flat = flatChanges(keptResources.filter(isWanted));
  const isCsv = task.format === 'csv';
  for (const runId of reader.endedRuns.since(sinceRunId)) {
    if (runId > untilRunId) return;
    const ofRun = { sinceRunId: runId - 1, untilRunId: runId, after, resource: null };
    const changes = () => reader.changes(ofRun).filter(({ resource }) => isWanted(resource));
    if (!changes().some(() => true)) continue;
    const path = join(task.folder, 'changes', `run_id=${runId}`, `changes.${task.format}`);
    makeFolders('--out', dirname(path));
    const file = new AtomicFile(path);
    const source = {
      columns: isCsv ? flat.columns.slice(1) : columns,
      rows: () => changes().map(change => (isCsv ? flat.rowOf(change).slice(1) : rowOf(change))),
      lines: () => changes().map(change => ndjsonLine(change).trimEnd()),
    };
    yield { file, rowCount: await writeTable({ ...task, onRows: () => undefined }, file, source) };
  }
}

function rowOf({ changedAt, resource, recordId, operation, record, before }: Change): ExportValue[] {
  return [changedAt, resource, recordId, operation, record, before];
}
