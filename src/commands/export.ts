import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CellValue, type Column, cellsOf } from '../contract/cells.ts';
import {
  arrayFields,
  type Field,
  fieldsOf,
  keptResources,
  lists,
  scalarFields,
  tableOf,
} from '../contract/lists.ts';
import { UsageError } from '../errors.ts';
import { bytesText, count, counted } from '../render/numbers.ts';
import { renderTable } from '../render/table.ts';
import { fileFormats, tableWriter } from '../render/table-file.ts';
import { AtomicFile, makeFolders } from '../store/file/atomic-file.ts';
import { openForReading } from '../store/file/open.ts';
import { erasedSince, MirrorState, type StoredVersion, whyNotAsOf } from '../store/read/as-of.ts';
import { runsOf } from '../store/read/change-list.ts';
import type { EndedRuns, ListInRun } from '../store/tables/ended-runs.ts';
import { TimeSlice } from '../time-slice.ts';
import { runOf } from './changes.ts';
import { command } from './command.ts';
import { choice, defaulting, file, instantOf, required, text, yes } from './flags.ts';
import { widthOf } from './io.ts';
import { StatusLine } from './progress.ts';
import { mirrorSettings, resourceFlag } from './shared-flags.ts';

/** `docmirror export` */
export const exportMirror = command({
  flags: {
    format: defaulting(choice(fileFormats, 'FORMAT', 'how to write them'), 'ndjson'),
    names: yes('in formats with columns: the names of connections beside their ids'),
    out: required(file('the folder to write into; it is made if it does not exist', { valueName: 'DIR' })),
    resource: resourceFlag,
    asOfRun: text('N', 'the lists as they were after this run', { conflicts: ['--as-of'] }),
    asOf: text(
      'TIME',
      'the lists as the last run until then had left them; UTC if it has no zone; a date without a time means midnight UTC',
    ),
  },
  settings: mirrorSettings,
  examples: [
    { line: 'docmirror export --out lists', meaning: "a file a list, in the service's own shape" },
    {
      line: 'docmirror export --format parquet --out lists --as-of-run 1',
      meaning: 'the lists as they were after run 1',
    },
    { line: 'docmirror export --format xlsx --names --out sheets', meaning: 'for Excel and the like' },
  ],
  notes: [
    'Files appear under their names when all of them are complete; an older file of that name is replaced. "docmirror changes" writes what runs changed, in the same formats.',
  ],
  async run({ format, names, out, ...given }, { config, stdout, stderr }) {
    if (names && format === 'ndjson')
      throw new UsageError('--names goes with the other formats. NDJSON always has the names.');
    if (existsSync(out) && !statSync(out).isDirectory())
      throw new UsageError(`--out: ${out} is a file. Name a folder.`);
    using mirror = openForReading(config.database);
    const { sqlite } = mirror;
    sqlite.exec('BEGIN');
    const resources = keptResources.filter(each => given.resource?.includes(each) ?? true);
    const say = (line: string) => stderr.write(`${line}\n`);
    const runs = runsOf(sqlite);
    const runId = runNamed(given, runs, say);
    if (runId !== null) {
      const why = whyNotAsOf(sqlite, runId);
      if (why !== null) throw new UsageError(why);
      for (const note of resources.flatMap(each => noteOn(each, runId, runs))) say(note);
      const erased = resources.reduce((sum, each) => sum + erasedSince(sqlite, runId, each), 0);
      if (erased > 0) say(noteOnErased(erased));
    }
    const state = new MirrorState(sqlite, runId);
    const total = resources.reduce((sum, each) => sum + state.count(each), 0);
    const line = new StatusLine(stderr);
    const slice = new TimeSlice(null);
    const write = format === 'ndjson' ? null : await tableWriter(format);
    const written: { readonly file: AtomicFile; rowCount: number }[] = [];
    let done = 0;
    try {
      for (const resource of resources) {
        const before = done;
        const counting = <T>(row: T): T => {
          done++;
          if (done % 1_000 === 0) line.show(`exporting ${count(done)} of ${count(total)} rows`);
          return row;
        };
        const path = join(out, `${tableOf(resource)}.${format}`);
        makeFolders(dirname(path));
        const file = new AtomicFile(path);
        const { columns, rowOf } = tableFor(resource, state, names);
        const pieces =
          write === null
            ? state.wire(resource).map(item => `${counting(item)}\n`)
            : write(
                columns,
                state.records(resource).map(record => rowOf(counting(record))),
              );
        const entry = { file, rowCount: 0 };
        written.push(entry);
        for (const piece of pieces) {
          file.write(piece);
          if (slice.isOver) await slice.next();
        }
        file.finish();
        entry.rowCount = done - before;
      }
      for (const { file } of written) file.putInPlace();
    } finally {
      line.clear();
      for (const { file } of written) file[Symbol.dispose]();
    }
    const cells = written.map(({ file, rowCount }) => [file.path, count(rowCount), bytesText(file.bytes)]);
    stdout.write(renderTable(['File', { right: 'Rows' }, { right: 'Size' }], cells, widthOf(stdout)));
  },
});

/** A resource's columns: its id, its fields, the runs that wrote it, and its further fields. */
export function tableFor(
  resource: string,
  state: MirrorState,
  withNames: boolean,
): { columns: Column[]; rowOf(record: StoredVersion): CellValue[] } {
  const list = lists.find(each => each.resource === resource);
  const scalars: readonly Field[] = list === undefined ? fieldsOf(resource) : scalarFields(list);
  const arrays: readonly Field[] = list === undefined ? [] : arrayFields(list);
  const cells = [...scalars, ...arrays].flatMap(cellsOf).filter(({ isName }) => withNames || !isName);
  const nameOf = (id: unknown) => (typeof id === 'number' ? (state.connection(id)?.name ?? null) : null);
  const isConnection = scalars.map(({ kind }) => withNames && kind === 'connection');
  const areConnections = arrays.map(({ kind }) => withNames && kind === 'connections');
  return {
    columns: [
      { name: 'id', kind: 'integer' },
      ...cells,
      { name: '_first_seen_run_id', kind: 'integer' },
      { name: '_changed_run_id', kind: 'integer' },
      { name: '_extra', kind: 'json' },
    ],
    rowOf({ id, firstSeenRunId, changedRunId, values }) {
      const row: CellValue[] = [id];
      // This runs for every record. An iterator for each would take longer than the rest.
      for (let at = 0; at < values.scalars.length; at++) {
        const value = values.scalars[at] ?? null;
        row.push(value);
        if (isConnection[at]) row.push(nameOf(value));
      }
      for (const [at, { name }] of arrays.entries()) {
        const array = values.arrays[at] ?? [];
        // An array that does not fit its rows, or is null, is among the further fields.
        const isElsewhere =
          array.length === 0 && values.extra !== null && Object.hasOwn(JSON.parse(values.extra), name);
        row.push(isElsewhere ? null : array);
        if (areConnections[at]) row.push(isElsewhere ? null : array.map(nameOf));
      }
      row.push(firstSeenRunId, changedRunId, values.extra);
      return row;
    },
  };
}

interface AsOfFlags {
  readonly asOfRun: string | null;
  readonly asOf: string | null;
}

/** The run whose outcome is asked for; null for the present state. */
function runNamed({ asOfRun, asOf }: AsOfFlags, runs: EndedRuns, say: (line: string) => void): number | null {
  if (asOfRun !== null) return runOf('--as-of-run', asOfRun, runs);
  if (asOf === null) return null;
  const runId = runs.newestBy(endOfSecond(asOf));
  if (runId === null)
    throw new UsageError(`--as-of: no run had ended by ${asOf}. "docmirror runs" lists them.`);
  say(`As of run ${runId}, which ended at ${runs.endOf(runId)}.`);
  return runId;
}

const secondAlone = /:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})?$/i;

/** Times are shown to the second, so a second that is named means all of it. */
function endOfSecond(text: string): string {
  const instant = instantOf('--as-of', text);
  return secondAlone.test(text.trim()) ? instant.replace('.000Z', '.999Z') : instant;
}

/** What a reader should know if the run did not complete a list. */
function noteOn(resource: string, runId: number, runs: EndedRuns): string[] {
  if (resource === 'connections') return [];
  const { status, writtenByRunId }: ListInRun = runs.list(runId, resource);
  if (status === 'completed') return [];
  const what =
    status === null ? `run ${runId} did not work on it` : `run ${runId} did not complete it (${status})`;
  if (writtenByRunId === null) return [`${resource}: ${what}; nothing was mirrored until then.`];
  const writer = writtenByRunId === runId ? 'that run' : `run ${writtenByRunId}`;
  return [`${resource}: ${what}; it is given as ${writer} left it.`];
}

function noteOnErased(erased: number): string {
  const [verb, whose] = erased === 1 ? ['it was', 'its'] : ['they were', 'their'];
  return `Left out: ${counted(erased, 'record')} as ${verb} then, because ${whose} text was erased since.`;
}
