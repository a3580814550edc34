import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { named } from '../config/resolve.ts';
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
import { EndedRuns } from '../store/read/change-list.ts';
import { runOf } from './changes.ts';
import { command } from './command.ts';
import { choice, conflicting, defaulting, instantOf, required, resourceFlag, text, yes } from './flags.ts';
import { widthOf } from './io.ts';
import { fill, Tally } from './stream-out.ts';

/** `docmirror export` */
export const exportMirror = command({
  flags: {
    format: defaulting(choice(fileFormats, 'FORMAT', 'how to write them'), 'ndjson'),
    names: yes('in formats with columns: the names of connections beside their ids'),
    out: required(text('DIR', 'the folder to write into; it is made if it does not exist')),
    resource: resourceFlag,
    asOfRun: conflicting(text('N', 'the lists as they were after this run'), '--as-of'),
    asOf: text(
      'TIME',
      'the lists as the last run until then had left them; UTC if it has no zone; a date without a time means midnight UTC',
    ),
  },
  examples: {
    'docmirror export --out lists': "a file a list, in the service's own shape",
    'docmirror export --format parquet --out lists --as-of-run 1': 'the lists as they were after run 1',
    'docmirror export --format xlsx --names --out sheets': 'for Excel and the like',
  },
  notes: [
    'Files appear under their names when all of them are complete; an older file of that name is replaced. "docmirror changes" writes what runs changed, in the same formats.',
  ],
  async run({ format, names, out, resource: wanted, asOfRun, asOf }, { config, stdout, stderr }) {
    if (names && format === 'ndjson')
      throw new UsageError('--names goes with the other formats. NDJSON always has the names.');
    if (existsSync(out) && !statSync(out).isDirectory())
      throw new UsageError(`--out: ${out} is a file. Name a folder.`);
    using mirror = openForReading(config.database);
    const { sqlite } = mirror;
    sqlite.exec('BEGIN');
    const resources = keptResources.filter(each => wanted.includes(each));
    const say = (line: string) => stderr.write(`${line}\n`);
    const runs = new EndedRuns(sqlite);
    const runBefore = asOf === null ? null : lastRunBy(asOf, runs);
    const runId = asOfRun === null ? runBefore : runOf('--as-of-run', asOfRun, runs);
    if (runBefore !== null) say(`As of run ${runBefore}, which ended at ${runs.endOf(runBefore)}.`);
    if (runId !== null) {
      const why = whyNotAsOf(sqlite, runId);
      if (why !== null) throw new UsageError(why);
      for (const note of resources.flatMap(each => noteOn(each, runId, runs))) say(note);
      const erased = resources.reduce((sum, each) => sum + erasedSince(sqlite, runId, each), 0);
      if (erased > 0)
        say(`Left out: ${counted(erased, 'record')} as of then, because the text was erased since.`);
    }
    const state = new MirrorState(sqlite, runId);
    const write = format === 'ndjson' ? null : await tableWriter(format);
    const written: { readonly file: AtomicFile; readonly rows: Tally }[] = [];
    makeFolders(out);
    try {
      for (const resource of resources) {
        const rows = new Tally();
        const file = new AtomicFile(join(out, `${tableOf(resource)}.${format}`));
        written.push({ file, rows });
        const { columns, rowOf } = tableFor(resource, state, names);
        await fill(
          file,
          write === null
            ? rows.of(state.wire(resource)).map(item => `${item}\n`)
            : write(columns, rows.of(state.records(resource)).map(rowOf)),
        );
      }
      for (const { file } of written) file.putInPlace();
    } finally {
      for (const { file } of written) file[Symbol.dispose]();
    }
    const cells = written.map(({ file, rows }) => [file.path, count(rows.count), bytesText(file.bytes)]);
    return renderTable(['File', 'Rows', 'Size'], cells, widthOf(stdout));
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
      for (const [at, { kind }] of scalars.entries()) {
        const value = values.scalars[at] ?? null;
        row.push(value);
        if (withNames && kind === 'connection') row.push(nameOf(value));
      }
      for (const [at, { name, kind }] of arrays.entries()) {
        const found = values.arrays[at] ?? [];
        // An array that does not fit its rows, or is null, is among the further fields.
        const isElsewhere = found.length === 0 && values.extra !== null && name in JSON.parse(values.extra);
        const array = isElsewhere ? null : found;
        row.push(array);
        if (withNames && kind === 'connections') row.push(array?.map(nameOf) ?? null);
      }
      row.push(firstSeenRunId, changedRunId, values.extra);
      return row;
    },
  };
}

/** The last run that had ended by a time. Times are shown to the second, so a second that is named means all of it. */
function lastRunBy(asOf: string, runs: EndedRuns): number {
  const instant = named('--as-of', () => instantOf(asOf));
  const isSecond = /:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})?$/i.test(asOf.trim());
  const runId = runs.newestBy(isSecond ? instant.replace('.000Z', '.999Z') : instant);
  if (runId !== null) return runId;
  throw new UsageError(`--as-of: no run had ended by ${asOf}. "docmirror runs" lists them.`);
}

/** What a reader should know if the run did not complete a list. */
function noteOn(resource: string, runId: number, runs: EndedRuns): string[] {
  const { status, writtenByRunId } = runs.list(runId, resource);
  if (resource === 'connections' || status === 'completed') return [];
  const what = status === null ? 'did not work on it' : `did not complete it (${status})`;
  const writer = writtenByRunId === runId ? 'that run' : `run ${writtenByRunId}`;
  const how =
    writtenByRunId === null ? 'nothing was mirrored until then' : `it is given as ${writer} left it`;
  return [`${resource}: run ${runId} ${what}; ${how}.`];
}
