import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { bytesText, count } from '../render/numbers.ts';
import { renderTable } from '../render/table.ts';
import { AtomicFile } from '../store/file/atomic-file.ts';
import { makeFolders } from '../store/file/folders.ts';
import { exportTables, withConnectionNames } from '../store/read/export-tables.ts';
import { MirrorReader } from '../store/read/mirror-reader.ts';
import { TimeSlice } from '../time-slice.ts';
import {
  assertCursorFlags,
  type ChangeRange,
  type CursorFlags,
  rangeOfCursor,
  writeNext,
} from './change-cursor.ts';
import type { CommandContext } from './context.ts';
import { asOfRunId } from './export/as-of.ts';
import { exportChanges } from './export/changes.ts';
import { type ExportFormat, writeTable } from './export/table.ts';
import type { ExportTask, WrittenFile } from './export/task.ts';
import { isForSpreadsheet, noteOnPruned } from './flag-values.ts';
import { OneBar } from './one-bar.ts';
import { terminalWidth } from './terminal-width.ts';

interface ExportFlags extends CursorFlags {
  readonly format: ExportFormat;
  readonly spreadsheet?: boolean;
  readonly out: string;
  readonly resource?: readonly string[];
  readonly asOfRun?: string;
  readonly asOf?: string;
  readonly changes?: boolean;
  readonly names?: boolean;
}

/** `docmirror export`; its flags are in the table of commands. */
export async function exportMirror(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<ExportFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  assertFlagsFit(flags);
  using reader = new MirrorReader(config.database);
  const bar = new OneBar(context.stderr, 'exporting {bar} {value}/{total} rows');
  const written: WrittenFile[] = [];
  try {
    reader.holdStill();
    const task: ExportTask = {
      reader,
      format: flags.format,
      forSpreadsheet: isForSpreadsheet(flags),
      folder: flags.out,
      isWanted: resource => flags.resource?.includes(resource) ?? true,
      slice: new TimeSlice(context.signal),
      onProgress: bar.update,
    };
    const say = (line: string) => context.stderr.write(`${line}\n`);
    const range = flags.changes ? await rangeOf(flags, reader, say) : null;
    const parts =
      range === null
        ? exportLists(task, asOfRunId(flags, reader, say), flags.names === true)
        : exportChanges(task, range);
    for await (const part of parts) written.push(part);
    for (const { file } of written) file.putInPlace();
    if (range !== null) writeNext(flags, reader, range);
    bar.stop();
    context.stdout.write(summary(written, terminalWidth(context.stdout)));
  } finally {
    bar.stop();
    for (const { file } of written) file.discard();
  }
}

async function rangeOf(
  flags: ExportFlags,
  reader: MirrorReader,
  say: (line: string) => void,
): Promise<ChangeRange> {
  const range = await rangeOfCursor(flags, reader);
  const note = noteOnPruned(range.sinceRunId, reader.pruned());
  if (note !== null) say(note);
  return range;
}

function assertFlagsFit({ changes, out, ...flags }: ExportFlags): void {
  for (const [flag, value] of [
    ['--since-run', flags.sinceRun],
    ['--cursor', flags.cursor],
  ])
    if (value !== undefined && !changes) throw new UsageError(`${flag} goes with --changes.`);
  assertCursorFlags(flags);
  if (flags.names && flags.format === 'ndjson')
    throw new UsageError('--names goes with --format csv or parquet. NDJSON always has the names.');
  if (out === '') throw new UsageError('--out: it is empty');
  if (existsSync(out) && !statSync(out).isDirectory()) {
    throw new UsageError(`--out: ${out} is a file. Name a folder.`);
  }
}

async function* exportLists(
  task: ExportTask,
  runId: number | null,
  withNames: boolean,
): AsyncGenerator<WrittenFile> {
  const state = task.reader.state(runId);
  const wanted = exportTables.filter(({ resource }) => task.isWanted(resource));
  const tables = withNames ? wanted.map(withConnectionNames) : wanted;
  const total = tables.reduce((sum, table) => sum + table.count(state), 0);
  let done = 0;
  for (const table of tables) {
    const path = join(task.folder, `${table.name}.${task.format}`);
    makeFolders('--out', dirname(path));
    const file = new AtomicFile(path);
    const source = { columns: table.columns, rows: () => table.rows(state), lines: () => table.wire(state) };
    const written = done;
    const onRows = (rowCount: number) => task.onProgress(written + rowCount, total);
    const rowCount = await writeTable({ ...task, onRows }, file, source);
    done += rowCount;
    yield { file, rowCount };
  }
}

function summary(written: readonly WrittenFile[], width: number): string {
  if (written.length === 0) return 'Nothing changed, so nothing was written.\n';
  return renderTable(
    ['File', { right: 'Rows' }, { right: 'Size' }],
    written.map(({ file, rowCount }) => [file.path, count(rowCount), bytesText(file.bytes)]),
    width,
  );
}
