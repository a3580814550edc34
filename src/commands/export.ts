import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  noteOnPruned,
  rangeOfCursor,
  writeNext,
} from './change-cursor.ts';
import { command } from './command.ts';
import { asOfRunId } from './export/as-of.ts';
import { exportChanges } from './export/changes.ts';
import { exportFormats, writeTable } from './export/table.ts';
import type { ExportTask, WrittenFile } from './export/task.ts';
import { choice, defaulting, file, required, text, type ValuesOf, yes } from './flags.ts';
import { StatusLine } from './progress.ts';
import { assertForCsv, cursorFlags, mirrorSettings, resourceFlag, spreadsheetFlag } from './shared-flags.ts';
import { widthOf } from './widths.ts';

const flags = {
  format: defaulting(choice(exportFormats, 'FORMAT', 'how to write them'), 'ndjson'),
  spreadsheet: spreadsheetFlag,
  names: yes('with --format csv or parquet: the names of connections beside their ids', {
    conflicts: ['--changes'],
  }),
  out: required(file('the folder to write into; it is made if it does not exist', { valueName: 'DIR' })),
  resource: resourceFlag,
  asOfRun: text('N', 'the lists as they were after this run', {
    conflicts: ['--as-of', '--changes'],
  }),
  asOf: text(
    'TIME',
    'the lists as the last run until then had left them; UTC if it has no zone; a date without a time means midnight UTC',
    { conflicts: ['--changes'] },
  ),
  changes: yes('the change feed, a folder a run, instead of the lists'),
  sinceRun: text('N', 'with --changes: only of later runs than this one'),
  ...cursorFlags,
};

type Given = ValuesOf<typeof flags>;

/** `docmirror export` */
export const exportMirror = command({
  flags,
  settings: mirrorSettings,
  examples: [
    { line: 'docmirror export --out lists', meaning: "a file a list, in the service's own shape" },
    {
      line: 'docmirror export --format parquet --out lists --as-of-run 1',
      meaning: 'the lists as they were after run 1',
    },
    {
      line: 'docmirror export --format csv --names --spreadsheet --out sheets',
      meaning: 'for Excel and the like',
    },
    {
      line: 'docmirror export --format parquet --out feed --changes --cursor c --next n && mv n c',
      meaning: 'each change once: feed/changes/run_id=2/changes.parquet and so on',
    },
  ],
  notes: [
    'Files appear under their names when all of them are complete; an older file of that name is replaced. Then --next is written; "docmirror help changes" says what a cursor is. --cursor, --next and --from go with --changes.',
  ],
  exitCodes: '4 the mirror can not say what came after the cursor (cursor_lost); nothing was written.',
  async run(given, { config, stdout, stderr, signal }) {
    assertFlagsFit(given);
    using reader = new MirrorReader(config.database);
    const line = new StatusLine(stderr);
    const written: WrittenFile[] = [];
    try {
      reader.holdStill();
      const task: ExportTask = {
        reader,
        format: given.format,
        forSpreadsheet: given.spreadsheet,
        folder: given.out,
        isWanted: resource => given.resource?.some(each => each === resource) ?? true,
        slice: new TimeSlice(signal),
        onProgress: (done, total) => line.show(`exporting ${count(done)}/${count(total)} rows`),
      };
      const say = (line: string) => stderr.write(`${line}\n`);
      const range = given.changes ? await rangeOf(given, reader, say) : null;
      const parts =
        range === null
          ? exportLists(task, asOfRunId(given, reader, say), given.names)
          : exportChanges(task, range);
      for await (const part of parts) written.push(part);
      for (const { file } of written) file.putInPlace();
      if (range !== null) writeNext(given, reader, range);
      line.clear();
      stdout.write(summary(written, widthOf(stdout)));
    } finally {
      line.clear();
      for (const { file } of written) file.discard();
    }
  },
});

async function rangeOf(
  given: Given,
  reader: MirrorReader,
  say: (line: string) => void,
): Promise<ChangeRange> {
  const range = await rangeOfCursor(given, reader);
  const note = noteOnPruned(range.sinceRunId, reader.pruned());
  if (note !== null) say(note);
  return range;
}

function assertFlagsFit({ changes, out, ...given }: Given): void {
  for (const [flag, value] of [
    ['--since-run', given.sinceRun],
    ['--cursor', given.cursor],
  ])
    if (value !== null && !changes) throw new UsageError(`${flag} goes with --changes.`);
  assertCursorFlags(given);
  assertForCsv(given);
  if (given.names && given.format === 'ndjson')
    throw new UsageError('--names goes with --format csv or parquet. NDJSON always has the names.');
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
