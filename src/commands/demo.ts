import { rmSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { RefusedFileError } from '../errors.ts';
import { changesText, type ShownChange } from '../render/changes.ts';
import { type SharedRunSummary, summaryText } from '../render/run-summary.ts';
import { changeSample } from '../sample/change.ts';
import { generateSample } from '../sample/generate.ts';
import { arraySource } from '../serve/record-source.ts';
import { startServer } from '../serve/server.ts';
import { holdLock } from '../store/file/lock-file.ts';
import { mirrorToWrite } from '../store/file/mirror-path.ts';
import { MirrorReader } from '../store/read/mirror-reader.ts';
import { RunReader } from '../store/read/run-reader.ts';
import type { CommandContext } from './context.ts';
import { createLogger } from './logging.ts';
import { LogObserver } from './progress.ts';
import { exitCodeAfter, runOnce } from './run-once.ts';
import { assertShareFits } from './share-after-run.ts';
import { changesWidth, summaryWidth } from './terminal-width.ts';

const demoFile = 'docmirror-demo.sqlite';
const demoShare = 'docmirror-demo-share.sqlite';
const demoToken = 'demo-token';
/** Whose runs a demo's are, by which its mirror is known again. */
const demoActor = 'docmirror demo';
/** A demo makes two. */
const runsLookedAt = 3;
/** The sample ends here, so that every demo shows the same. */
const sampleEnd = new Date('2026-11-01T12:00:00Z');
const afternoon = new Date('2026-11-01T18:00:00Z');
const shownChangesMax = 12;

/** `docmirror demo`; its flags stand in the table of commands. */
export async function demo(command: Command, context: CommandContext): Promise<void> {
  const { stdout } = context;
  await assertShareFits({ database: demoFile, share: demoShare, shareSql: null });
  removeOldDemo();
  let sample = generateSample({ now: sampleEnd });
  const server = await startServer({
    source: arraySource(() => sample),
    host: '127.0.0.1',
    port: 0,
    token: demoToken,
  });
  try {
    stdout.write(`A sample service answers at ${server.url}.\n\n$ docmirror sync\n`);
    const first = await syncDemo(command, context, server.url);
    stdout.write(summaryText(first, summaryWidth(stdout)));
    if (context.signal.aborted) return context.setExitCode(exitCodeAfter(first, context.signal));
    stdout.write(
      '\nSome hours go by at the service: exports are made, some things change, some go.\n\n$ docmirror sync\n',
    );
    sample = changeSample(sample, { now: afternoon });
    const second = await syncDemo(command, context, server.url);
    stdout.write(`${summaryText(second, summaryWidth(stdout))}\n`);
    stdout.write(
      `What run ${second.runId} changed:\n${describeChanges(first, context)}\n${whatNext(context)}`,
    );
    context.setExitCode(
      Math.max(exitCodeAfter(first, context.signal), exitCodeAfter(second, context.signal)),
    );
  } finally {
    await server.close();
  }
}

/** An earlier demo's file is begun anew; any other one of that name is refused. */
function removeOldDemo(): void {
  const file = mirrorToWrite(demoFile);
  assertDemo(file);
  const giveBack = holdLock(file);
  try {
    for (const path of [file, `${file}-wal`, `${file}-shm`]) rmSync(path, { force: true });
  } finally {
    giveBack();
  }
}

function assertDemo(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  using reader = new RunReader(file);
  if (reader.runs(runsLookedAt).every(run => run.actor === demoActor)) return;
  throw new RefusedFileError(
    `${file} is a mirror that no demo made. It was left as it is; move it away, or run the demo in another folder.`,
  );
}

async function syncDemo(command: Command, context: CommandContext, url: string): Promise<SharedRunSummary> {
  const config = resolveConfig(
    { ...command.opts(), database: demoFile, actor: demoActor, share: demoShare },
    { DOCMIRROR_LOG_LEVEL: context.environment.DOCMIRROR_LOG_LEVEL ?? 'warn' },
  );
  const logger = await createLogger(config, context.stderr.isTTY, context.secrets);
  return runOnce({
    config,
    service: { baseUrl: url, token: { text: demoToken, from: 'the demo' }, proxy: null, extraCaFile: null },
    lists,
    trigger: 'manual',
    logger,
    secrets: context.secrets,
    observer: new LogObserver(logger),
    signal: context.signal,
  });
}

function describeChanges(first: SharedRunSummary, { stdout }: CommandContext): string {
  using reader = new MirrorReader(demoFile);
  const changes: ShownChange[] = [...reader.changes({ sinceRunId: first.runId ?? 0, resource: null })];
  // The rarer a kind of change, the more it shows.
  const order = ['removal', 'update', 'insert'];
  const shown = changes.toSorted((a, b) => order.indexOf(a.operation) - order.indexOf(b.operation));
  return changesText(shown.slice(0, shownChangesMax), changes.length, changesWidth(stdout));
}

function whatNext({ environment }: CommandContext): string {
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
