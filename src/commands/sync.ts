import { lists } from '../contract/lists.ts';
import type { ListOutcome } from '../contract/run.ts';
import { changesText, type ShownChange } from '../render/changes.ts';
import { summaryText, syncOutputOf } from '../render/run-summary.ts';
import { type RejectionCount, readRejected } from '../store/read/run-reader.ts';
import { type Context, command } from './command.ts';
import { yes } from './flags.ts';
import { changesWidth, summaryWidth } from './io.ts';
import { createLogger } from './logging.ts';
import { showProgress } from './progress.ts';
import { exitCodeAfter, runOnce } from './run-once.ts';
import { assertShareFits } from './share.ts';
import { listFlag, mirrorSettings, runSettings } from './shared-flags.ts';

/** How many planned changes a dry run shows for people. */
const shownChangesMax = 200;

/** `docmirror sync` */
export const sync = command({
  flags: {
    resource: listFlag,
    full: yes('read the lists in full, also if an incremental sync would be enough'),
    dryRun: yes('read and compare, change nothing, and print what would change'),
    allowMassRemoval: yes('remove records even if they are more than --max-removals allows'),
    acceptNewBaseUrl: yes('accept that the mirror is of another base address, because the service has moved'),
    rebuild: yes(
      'drop what another program altered (mirror_altered), put views and indexes right, and read all lists in full',
      { conflicts: ['--resource', '--dry-run'] },
    ),
  },
  settings: [...runSettings, ...mirrorSettings],
  examples: [
    { line: 'docmirror sync', meaning: 'all three lists' },
    { line: 'docmirror sync --resource webhooks --full', meaning: 'one list, in full' },
    { line: 'docmirror sync --dry-run', meaning: 'what would change' },
    { line: 'docmirror sync --json > run.json', meaning: 'for scripts' },
  ],
  exitCodes:
    '0 done, 1 failed, 2 usage, 3 partial or no share, 11 another run is using the mirror, 12 the service refused the token, 129, 130 and 143 ended by a signal.',
  notifies: ({ dryRun }) => !dryRun,
  async run(given, context) {
    const { config, service } = context;
    if (!given.dryRun) assertShareFits(config);
    const logger = createLogger(config, context);
    const planned: ShownChange[] = [];
    let plannedCount = 0;
    const summary = await runOnce({
      config,
      service,
      lists: lists.filter(({ resource }) => given.resource?.includes(resource) ?? true),
      trigger: config.trigger ?? 'manual',
      flags: given,
      ...(given.dryRun && {
        onPlannedChange: (change: ShownChange) => {
          plannedCount++;
          if (planned.length < shownChangesMax) planned.push(change);
        },
      }),
      logger,
      secrets: context.secrets,
      observer: showProgress(context, logger),
      signal: context.signal,
      onLocked: () => context.notifier?.begun(),
    });
    context.exitCode = exitCodeAfter(summary, context.signal);
    const rejections = given.dryRun ? [] : rejectionsIn(config.database, summary.resources);
    return { summary, rejections, planned, plannedCount, place: placeOf(context) };
  },
  output: ({ summary }) => syncOutputOf(summary),
  text({ summary, rejections, planned, plannedCount, place }, width) {
    const plan = plannedCount === 0 ? '' : `${changesText(planned, plannedCount, changesWidth(width))}\n`;
    return `${plan}${summaryText(summary, summaryWidth(width), place, rejections)}`;
  },
});

/** Why records of these lists were rejected by the run that has just ended. */
function rejectionsIn(database: string, outcomes: readonly ListOutcome[]): RejectionCount[] {
  if (outcomes.every(({ rejected }) => rejected === 0)) return [];
  return readRejected(database, 0).counts.filter(({ isCurrent }) => isCurrent);
}

/**
 * The flags that name the settings, the service and the mirror of a command, as they are typed; empty if the environment names them.
 * Flags about a token are left out, because they can contain the token.
 */
function placeOf({ settings: { flags } }: Context): string {
  const typed = {
    '--env-file': flags.envFile,
    '--base-url': flags.baseUrl,
    '--allow-http': flags.allowHttp,
    '--database': flags.database,
  };
  return Object.entries(typed)
    .filter(([, value]) => value !== undefined)
    .map(([flag, value]) => (value === true ? flag : `${flag} ${quoted(String(value))}`))
    .join(' ');
}

/** A word, quoted for a shell if necessary. */
function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
