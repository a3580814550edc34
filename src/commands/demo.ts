import { existsSync, rmSync } from 'node:fs';
import { makeSample, serveSample } from '../../examples/sample-service/sample.ts';
import { resolveConfig, resolveService } from '../config/resolve.ts';
import { exitCodes, RefusedFileError } from '../errors.ts';
import { printable } from '../printable.ts';
import { changesText } from '../render/changes.ts';
import { fieldsText, type SharedRunSummary, summaryText, totalsOf } from '../render/run-summary.ts';
import { linesOf, wrap, wrapLines } from '../render/table.ts';
import { verdictTones } from '../render/tones.ts';
import { MirrorLock } from '../store/file/lock-file.ts';
import { mirrorToWrite, openForReading, openOfAnyShape } from '../store/file/open.ts';
import { changesThatFit } from '../store/read/history/changes.ts';
import { type Context, command } from './command.ts';
import { defaulting, moment, numeral } from './flags.ts';
import { changesWidth, summaryWidth, widthOf } from './io.ts';
import { createLogger } from './logging.ts';
import { exitCodeAfter, runOnce } from './run-once.ts';
import { assertShareFits } from './share.ts';
import { painted } from './terminal.ts';

const database = 'docmirror-demo.sqlite';
const share = 'docmirror-demo-share.sqlite';
/** The actor in the runs of a demo. It tells the mirror of a demo from others. */
const actor = 'docmirror demo';
const shownChangesMax = 8;

const dayMs = 86_400_000;
/** A longer list is copied less often, because it takes longer. */
const longList = 100_000;

const changesOn = 6;
const wrongTotalOn = 9;
const newFieldFrom = 11;
/** On one day the service states a total that is higher by this number. */
const wrongBy = 3;

const introduction = `This is a demo of docmirror, which copies three lists of a web service (document exports, collections and webhooks) into one
SQLite file that you can ask anything in SQL. Each run updates the copy, says how it knows that nothing is missing, and notes
what changed. The service is a small one on this machine, its records are made up, and the runs are dated one a day.
`;

export default command({
  flags: { records: defaulting(numeral('n', [0, 10_000_000]), '4000'), until: moment('date') },
  settings: ['logLevel'],
  async run({ records, until }, context) {
    const { stdout, signal, settings } = context;
    const days = records > longList ? 4 : 14;
    const untilMs = until === null ? Date.now() : Date.parse(until);
    const { DOCMIRROR_LOG_LEVEL = 'error' } = settings.environment;
    const config = resolveConfig({ ...settings.flags, database, actor }, { DOCMIRROR_LOG_LEVEL });
    assertShareFits({ database, share, shareSql: null, shareWithout: [] });
    removeOldDemo();
    const at = (day: number) => new Date(untilMs - (days - day) * dayMs);
    const sample = makeSample(at(1), records);
    const server = await serveSample(sample);
    const service = resolveService({}, { DOCMIRROR_BASE_URL: server.url, DOCMIRROR_TOKEN: 'demo-token' });
    const logger = createLogger(config, context);
    const width = summaryWidth(widthOf(stdout));
    const paragraph = introduction.trimEnd().replaceAll('\n', ' ');
    stdout.write(`${Number.isFinite(width) ? linesOf(wrap(paragraph, width)) : introduction}\n`);
    try {
      for (let day = 1; day <= days && !signal.aborted; day++) {
        const isLast = day === days;
        if (day > 1) sample.grow(at(day).getTime(), day < newFieldFrom ? {} : { language: 'en' });
        if (day === changesOn) sample.change('Workday');
        if (isLast) sample.change('Salesforce');
        sample.wrongBy = day === wrongTotalOn ? wrongBy : 0;
        const aheadMs = at(day).getTime() - Date.now();
        const clock = () => new Date(Date.now() + aheadMs);
        const order = { config: { ...config, share: isLast ? share : null }, service, logger, clock };
        const summary = await runOnce(order, context);
        context.exitCode = isLast || signal.aborted ? exitCodeAfter(summary, signal) : exitCodes.done;
        const text = isLast ? ending(summary, width, context) : lineOf(summary, width);
        stdout.write(painted(text, verdictTones(summary.resources), stdout));
      }
    } finally {
      server.close();
    }
  },
});

/** Notes begin below the word that follows the date. */
const noteIndent = ' '.repeat(12);

function lineOf({ startedAt, runId, resources, status }: SharedRunSummary, width: number): string {
  const sums = totalsOf(resources);
  const notes = resources.flatMap(({ resource, completeness, reason, newFields }) => {
    if (completeness === 'unproven')
      return [`${resource} is unproven: ${reason}. Nothing was removed; the next run looks again.`];
    if (newFields.length === 0) return [];
    return [`${resource} has a new field: ${fieldsText(newFields)}. Its values are kept, too.`];
  });
  const counts = `${sums.new} new, ${sums.changed} changed, ${sums.removed} removed`;
  const wrapped = notes.flatMap(note => wrap(`${noteIndent}${printable(note)}`, width, noteIndent));
  return linesOf([`${startedAt.slice(0, 10)}  run ${runId} ${status}: ${counts}`, ...wrapped]);
}

function removeOldDemo(): void {
  const file = mirrorToWrite(database);
  for (const path of [file, share].filter(each => existsSync(each))) {
    // That of an older release, too, which no other command reads before it is brought up to date.
    using reader = openOfAnyShape(path, ['mirror', 'share', 'empty']);
    const newest = reader.sqlite.prepare('SELECT _actor FROM sync_runs ORDER BY id DESC LIMIT 1');
    const foreign = `${path} is a file that no demo made. It was left as it is; move it away, or run the demo in another folder.`;
    if ((newest.pluck().get() ?? actor) !== actor) throw new RefusedFileError(foreign);
  }
  using _lock = new MirrorLock(file);
  for (const path of [file, `${file}-wal`, `${file}-shm`, share]) rmSync(path, { force: true });
}

function ending(summary: SharedRunSummary, width: number, { stdout }: Context): string {
  using mirror = openForReading(database);
  const { runId, startedAt } = summary;
  const changes = changesThatFit(mirror.sqlite, { sinceRunId: (runId ?? 1) - 1 }).toArray();
  // Records that are new come last, because they are the most.
  const shown = changes.toSorted((a, b) => b.operation.localeCompare(a.operation));
  const changed = changesText(shown.slice(0, shownChangesMax), changes.length, changesWidth(widthOf(stdout)));
  return `
${startedAt.slice(0, 10)}  $ docmirror sync
${summaryText(summary, width)}
What run ${runId} changed:
${wrapLines(changed.trimEnd(), widthOf(stdout))}
The mirror is ${database}, its share for readers ${share}. Try:
  sqlite3 ${share} "SELECT * FROM sync_status"
  sqlite3 ${share} "SELECT source_connection_name, count(*) FROM document_exports_named GROUP BY 1"
  docmirror status --database ${database}
  docmirror serve --database ${database}
For a service of your own, set DOCMIRROR_BASE_URL and DOCMIRROR_TOKEN and run: docmirror sync
`;
}
