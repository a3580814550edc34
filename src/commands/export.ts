import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keptResources, tableOf } from '../contract/lists.ts';
import { UsageError } from '../errors.ts';
import { printable, printableJson } from '../printable.ts';
import { bytesText, count, counted } from '../render/numbers.ts';
import { renderTable } from '../render/table.ts';
import { fileFormats, tableWriter } from '../render/table-file.ts';
import { openForReading } from '../store/file/open.ts';
import { makeFolders } from '../store/file/unfinished.ts';
import { AtomicFile } from '../store/file/whole-file.ts';
import { erasedSince, MirrorState, whyNotAsOf } from '../store/read/history/as-of.ts';
import { EndedRuns } from '../store/read/history/changes.ts';
import { furtherNames, stateTable, withFurtherColumns } from '../store/read/records/table.ts';
import { assertEnded } from './changes.ts';
import { command } from './command.ts';
import { conflicting, defaulting, keptFlag, moment, option, required, runNo, typed, yes } from './flags.ts';
import { widthOf } from './io.ts';
import { fill, Tally } from './stream-out.ts';

export default command({
  flags: {
    format: defaulting(option(fileFormats, 'FORMAT'), 'ndjson'),
    names: yes,
    out: required(typed('DIR')),
    resource: keptFlag,
    asOfRun: conflicting(runNo(), '--as-of'),
    asOf: moment(),
  },
  async run({ format, names, out, resource: wanted, asOfRun, asOf }, context) {
    const { config, stdout, stderr } = context;
    using mirror = openForReading(config.database);
    const { sqlite } = mirror;
    sqlite.exec('BEGIN');
    const resources = keptResources.filter(each => wanted.includes(each));
    const say = (line: string) => stderr.write(`${line}\n`);
    const runs = new EndedRuns(sqlite);
    assertEnded('--as-of-run', asOfRun, runs);
    let runId = asOfRun;
    if (asOf !== null) {
      // Times are shown to the second, so a second means all of it.
      runId = runs.newestBy(asOf.replace('.000Z', '.999Z'));
      if (runId === null)
        throw new UsageError(`--as-of: no run had ended by ${asOf}. "docmirror runs" lists them.`);
      say(`As of run ${runId}, which ended at ${runs.endOf(runId)}.`);
    }
    if (runId !== null) {
      const why = whyNotAsOf(sqlite, runId);
      if (why !== null) throw new UsageError(why);
      let erased = 0;
      for (const resource of resources) {
        erased += erasedSince(sqlite, runId, resource);
        const { status, writtenByRunId: by } = runs.list(runId, resource);
        if (resource === 'connections' || status === 'completed') continue;
        const how = by === null ? 'nothing was mirrored until then' : `it is given as run ${by} left it`;
        say(`${resource}: run ${runId} did not complete it (${status ?? 'not read'}); ${how}.`);
      }
      if (erased > 0)
        say(`Left out: ${counted(erased, 'record')} as of then, because the text was erased since.`);
    }
    const state = new MirrorState(sqlite, runId);
    const write = format === 'ndjson' ? null : await tableWriter(format);
    if (existsSync(out) && statSync(out).isFile())
      throw new UsageError(`--out: ${printable(out)} is a file. Name a folder.`);
    makeFolders(out);
    using files = new DisposableStack();
    const written = resources.map(resource => {
      const file = files.use(new AtomicFile(join(out, `${tableOf(resource)}.${format}`)));
      return { resource, file, rows: new Tally() };
    });
    for (const { resource, file, rows } of written) {
      const whole = stateTable(state, resource, names);
      const table = format === 'xlsx' ? withFurtherColumns(whole, furtherNames(sqlite, [resource])) : whole;
      const lines = () => rows.of(state.wire(resource)).map(item => printableJson(`${item}\n`));
      await fill(file, write === null ? lines() : write(table.columns, rows.of(table.rows)), context);
    }
    for (const { file } of written) file.putInPlace();
    const cells = written.map(({ file, rows }) => [file.path, count(rows.count), bytesText(file.bytes)]);
    return renderTable(['File', 'Rows', 'Size'], cells, widthOf(stdout));
  },
});
