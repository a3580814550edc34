import { rmSync, statSync } from 'node:fs';
import { resolveConfig } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { RefusedFileError } from '../errors.ts';
import { printable } from '../printable.ts';
import { changesText, type ShownChange } from '../render/changes.ts';
import { fieldsText } from '../render/list-notes.ts';
import { type SharedRunSummary, summaryText } from '../render/run-summary.ts';
import { wrap } from '../render/wrap.ts';
import { changeSample, generateSample, growSample, type Sample } from '../sample/sample.ts';
import { serveSample } from '../sample/server.ts';
import { MirrorLock } from '../store/file/lock-file.ts';
import { mirrorToWrite } from '../store/file/mirror-path.ts';
import { openForReading } from '../store/file/open.ts';
import { changesThatFit } from '../store/read/change-list.ts';
import { RunReader } from '../store/read/run-reader.ts';
import { type Context, command } from './command.ts';
import { defaulting, moment, number, pathIn } from './flags.ts';
import { changesWidth, summaryWidth, widthOf } from './io.ts';
import { createLogger } from './logging.ts';
import { Progress, showProgress } from './progress.ts';
import { exitCodeAfter, runOnce } from './run-once.ts';
import { assertShareFits } from './share.ts';

const demoFile = 'docmirror-demo.sqlite';
const demoShare = 'docmirror-demo-share.sqlite';
const demoToken = 'demo-token';
/** The actor in the runs of a demo. It tells the mirror of a demo from others. */
const demoActor = 'docmirror demo';
/** How many runs of a mirror are read to find out if a demo made it. */
const runsLookedAt = 3;
const shownChangesMax = 8;

const dayMs = 86_400_000;
const daysOfHistory = 14;
/** A longer list is copied less often, because it takes longer. */
const longList = 100_000;
const daysOfLongList = 4;

/** The changes at the service, by how many days before the last run. */
const renamesAt = 8;
const wrongTotalAt = 5;
const newFieldFrom = 3;

const introduction = `This is a demo of docmirror, which copies three lists of a web service (document exports, collections and webhooks) into one
SQLite file that you can ask anything in SQL. Each run updates the copy, says how it knows that nothing is missing, and notes
what changed. The service is a small one on this machine, its records are made up, and the runs are dated one a day.
`;

/** `docmirror demo` */
export const demo = command({
  flags: {
    records: defaulting(
      number(
        'n',
        'how many document exports there are at first; with more than 100000, only four runs are made',
        [0, 10_000_000],
      ),
      '4000',
    ),
    until: moment('the time of the last run (default: now). The same date makes the same records', {
      valueName: 'date',
    }),
  },
  settings: ['logLevel'],
  examples: [
    { line: 'docmirror demo', meaning: 'makes docmirror-demo.sqlite again' },
    { line: 'docmirror demo --records 1000000', meaning: 'a large one; takes minutes and 2 GB of memory' },
    { line: 'docmirror demo --log-level info', meaning: 'with what it logs' },
  ],
  async run({ records, until }, context) {
    const { stdout, signal } = context;
    const untilMs = until === null ? context.clock().getTime() : Date.parse(until);
    const [database, share] = [demoFile, demoShare].map(name => pathIn(context.folder, name)) as [
      string,
      string,
    ];
    assertShareFits({ database, share, shareSql: null });
    removeOldDemo(database);
    const isLong = records > longList;
    const days = isLong ? daysOfLongList : daysOfHistory;
    const at = (daysBefore: number) => new Date(untilMs - daysBefore * dayMs);
    let sample = generateSample({ now: at(days - 1), documentExports: records });
    let isTotalWrong = false;
    const server = await serveSample(() => ({ sample, wrongBy: isTotalWrong ? wrongBy : 0 }));
    try {
      stdout.write(`${introduction}\n`);
      for (let daysBefore = days - 1; daysBefore >= 0; daysBefore--) {
        if (daysBefore < days - 1) sample = sampleOf(sample, daysBefore, at(daysBefore));
        isTotalWrong = daysBefore === wrongTotalAt;
        const isLast = daysBefore === 0;
        const run = { url: server.url, at: at(daysBefore), database, share: isLast ? share : null, isLong };
        const summary = await syncDemo(run, context);
        const width = summaryWidth(widthOf(stdout));
        stdout.write(isLast ? wholeSummary(summary, width) : lineOf(summary, width));
        if (signal.aborted || isLast) context.exitCode = exitCodeAfter(summary, signal);
        if (signal.aborted) return;
        if (isLast) stdout.write(ending(summary, database, context));
      }
    } finally {
      server.close();
    }
  },
});

/** The lists of the service so many days before the last run. */
function sampleOf(before: Sample, daysBefore: number, now: Date): Sample {
  const seed = 2 + daysBefore;
  if (daysBefore === renamesAt || daysBefore === 0) return changeSample(before, now, seed);
  return growSample(before, now, seed, daysBefore <= newFieldFrom ? { language: 'en' } : {});
}

/** On one day the service states a total that is higher by this number. */
const wrongBy = 3;

function wholeSummary(summary: SharedRunSummary, width: number): string {
  return `\n${summary.startedAt.slice(0, 10)}  $ docmirror sync\n${summaryText(summary, width)}\n`;
}

/** Notes begin below the word that follows the date, in characters. */
const noteIndent = 12;

/** A run in a line, and a line more for each thing to know. */
function lineOf({ startedAt, runId, resources, status }: SharedRunSummary, width: number): string {
  const sum = (field: 'inserted' | 'updated' | 'removed') =>
    resources.reduce((total, outcome) => total + outcome[field], 0);
  const notes = resources.flatMap(({ resource, completeness, reason, newFields }) => [
    ...(completeness === 'unproven'
      ? [`${resource} is unproven: ${reason}. Nothing was removed; the next run looks again.`]
      : []),
    ...(newFields.length === 0
      ? []
      : [`${resource} has a new field: ${fieldsText(newFields)}. Its values are kept, too.`]),
  ]);
  const counts = `${sum('inserted')} new, ${sum('updated')} changed, ${sum('removed')} removed`;
  const indent = ' '.repeat(noteIndent);
  const lines = [
    `${startedAt.slice(0, 10)}  run ${runId} ${status}: ${counts}`,
    ...notes.flatMap(note => wrap(`${indent}${printable(note)}`, width, indent)),
  ];
  return lines.map(line => `${line}\n`).join('');
}

function ending(last: SharedRunSummary, database: string, context: Context): string {
  return `What run ${last.runId} changed:\n${describeChanges(last, database, context)}\n${whatNext(context)}`;
}

/** An earlier demo's file is made again; any other one of that name is refused. */
function removeOldDemo(database: string): void {
  const file = mirrorToWrite(database);
  assertDemo(file);
  using _lock = new MirrorLock(file);
  for (const path of [file, `${file}-wal`, `${file}-shm`]) rmSync(path, { force: true });
}

function assertDemo(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  using reader = new RunReader(file);
  if (reader.runs(runsLookedAt).every(run => run.actor === demoActor)) return;
  throw new RefusedFileError(
    `${file} is a mirror that no demo made. It was left as it is; move it away, or run the demo in another folder.`,
  );
}

interface DemoRun {
  readonly url: string;
  /** When the run is said to begin. */
  readonly at: Date;
  readonly database: string;
  /** The share to make after it; null makes none. */
  readonly share: string | null;
  /** Whether it takes so long that its progress is shown. */
  readonly isLong: boolean;
}

async function syncDemo(
  { url, at, database, share, isLong }: DemoRun,
  context: Context,
): Promise<SharedRunSummary> {
  const config = resolveConfig(
    { ...context.settings.flags, database, actor: demoActor, ...(share !== null && { share }) },
    { DOCMIRROR_LOG_LEVEL: context.environment.DOCMIRROR_LOG_LEVEL ?? 'error' },
  );
  const logger = createLogger(config, context);
  const aheadMs = at.getTime() - Date.now();
  return runOnce({
    config,
    service: { baseUrl: url, token: { text: demoToken, from: 'the demo' }, proxy: null, extraCaFile: null },
    lists,
    trigger: 'manual',
    logger,
    secrets: context.secrets,
    observer: isLong ? showProgress(context, logger) : new Progress(logger),
    signal: context.signal,
    clock: () => new Date(Date.now() + aheadMs),
  });
}

function describeChanges({ runId }: SharedRunSummary, database: string, { stdout }: Context): string {
  using mirror = openForReading(database);
  const changes: ShownChange[] = changesThatFit(mirror.sqlite, { sinceRunId: (runId ?? 1) - 1 })
    .filter(change => change !== null)
    .toArray();
  // The rarer a kind of change, the more it shows.
  const order = ['removal', 'update', 'insert'];
  const shown = changes.toSorted((a, b) => order.indexOf(a.operation) - order.indexOf(b.operation));
  return changesText(shown.slice(0, shownChangesMax), changes.length, changesWidth(widthOf(stdout)));
}

function whatNext({ environment }: Context): string {
  // Run by npm in the repository, the program is on no path.
  const docmirror = environment.npm_lifecycle_event === undefined ? 'docmirror' : 'npm run -s docmirror --';
  return `The mirror is ${demoFile}, its share for readers ${demoShare}. Try:
  sqlite3 ${demoShare} "SELECT * FROM sync_status"
  sqlite3 ${demoShare} "SELECT source_connection_name, count(*) FROM document_exports_named GROUP BY 1"
  ${docmirror} status --database ${demoFile}
  ${docmirror} serve --database ${demoFile}
For a service of your own, set DOCMIRROR_BASE_URL and DOCMIRROR_TOKEN and run: ${docmirror} sync
`;
}
