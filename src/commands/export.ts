import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { bytesText, count } from '../render/numbers.ts';
import { renderTable } from '../render/table.ts';
import { AtomicFile } from '../store/file/atomic-file.ts';
import { Turns } from '../store/file/turns.ts';
import { exportTables } from '../store/read/export-tables.ts';
import { MirrorReader } from '../store/read/mirror-reader.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { asOfRunId } from './export/as-of.ts';
import { exportChanges } from './export/changes.ts';
import { type ExportFormat, exportFormats, writeTable } from './export/table.ts';
import type { ExportTask, WrittenFile } from './export/task.ts';
import { addSettingFlags, mirrorFlags } from './flags.ts';
import { OneBar } from './one-bar.ts';
import { resourceOption, runOf } from './run-flags.ts';
import { isForSpreadsheet, spreadsheetOption } from './spreadsheet.ts';

interface ExportFlags {
  readonly format: ExportFormat;
  readonly spreadsheet?: boolean;
  readonly out: string;
  readonly resource?: readonly string[];
  readonly asOfRun?: string;
  readonly asOf?: string;
  readonly changes?: boolean;
  readonly sinceRun?: string;
}

const examples = `
Examples:
  $ docmirror export --out lists                                    a file a list, in the service's own shape
  $ docmirror export --format parquet --out lists --as-of-run 7     as the lists stood after run 7
  $ docmirror export --format csv --out lists --as-of 2026-11-20 --resource webhooks
  $ docmirror export --format parquet --out feed --changes --since-run 7
                                                                    feed/changes/run_id=8/changes.parquet and so on

Files appear under their names when all of them are whole; an older file of that name is replaced.`;

/** Registers `export`: the lists, as they are or stood then, or the change feed, as files. */
export const registerExport: CommandRegistration = (program, context) => {
  const command = program
    .command('export')
    .description('Write the lists, as they stand or stood, or the change feed into files for other tools.')
    .addOption(new Option('--format <FORMAT>', 'how to write them').choices(exportFormats).default('ndjson'))
    .addOption(spreadsheetOption())
    .requiredOption('--out <DIR>', 'the folder to write into; it is made where there is none')
    .addOption(resourceOption())
    .addOption(
      new Option('--as-of-run <N>', 'the lists as they stood after this run').conflicts(['asOf', 'changes']),
    )
    .addOption(
      new Option('--as-of <TIME>', 'the lists as the last run until then had left them').conflicts('changes'),
    )
    .option('--changes', 'the change feed, a folder a run, instead of the lists')
    .option('--since-run <N>', 'with --changes: only of later runs than this one')
    .addHelpText('after', examples);
  addSettingFlags(command, mirrorFlags).action(() => exportMirror(command, context));
};

async function exportMirror(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<ExportFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  assertFlagsFit(flags);
  const reader = MirrorReader.open(config.database);
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
      turns: new Turns(context.signal),
      onProgress: (done, total) => bar.update(done, total),
    };
    const parts = flags.changes
      ? exportChanges(task, runOf('--since-run', flags.sinceRun ?? '0', reader.endedRuns, 0))
      : exportLists(
          task,
          asOfRunId(flags, { endedRuns: reader.endedRuns, pruned: reader.pruned() }, line =>
            context.stderr.write(`${line}\n`),
          ),
        );
    for await (const part of parts) written.push(part);
    for (const { file } of written) file.putInPlace();
    bar.stop();
    context.stdout.write(summary(written));
  } finally {
    bar.stop();
    for (const { file } of written) file.discard();
    reader.close();
  }
}

function assertFlagsFit({ changes, sinceRun, format, out }: ExportFlags): void {
  if (sinceRun !== undefined && !changes) throw new UsageError('--since-run goes with --changes.');
  if (changes && format === 'csv')
    throw new UsageError('--changes is written as ndjson or parquet, not as csv.');
  if (out === '') throw new UsageError('--out: it is empty');
  if (statSync(out, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new UsageError(`--out: ${out} is a file. Name a folder.`);
  }
}

async function* exportLists(task: ExportTask, runId: number | null): AsyncGenerator<WrittenFile> {
  const state = task.reader.state(runId);
  const tables = exportTables.filter(({ resource }) => task.isWanted(resource));
  const total = tables.reduce((sum, table) => sum + table.count(state), 0);
  let done = 0;
  for (const table of tables) {
    const file = AtomicFile.inNewFolder(join(task.folder, `${table.name}.${task.format}`));
    const source = {
      columns: table.columns,
      rows: () => table.rows(state),
      lines: () => table.wire(state),
    };
    const written = done;
    const onRows = (rowCount: number) => task.onProgress(written + rowCount, total);
    const rowCount = await writeTable({ ...task, onRows }, file, source);
    done += rowCount;
    yield { file, rowCount };
  }
}

function summary(written: readonly WrittenFile[]): string {
  if (written.length === 0) return 'Nothing changed, so nothing was written.\n';
  return renderTable(
    [{ name: 'File' }, { name: 'Rows', align: 'right' }, { name: 'Size', align: 'right' }],
    written.map(({ file, rowCount }) => [file.path, count(rowCount), bytesText(file.bytes)]),
  );
}
