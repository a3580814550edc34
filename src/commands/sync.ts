import type { Command } from 'commander';
import { resolveConfig, resolveService } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { changesText, type ShownChange } from '../render/changes.ts';
import { type RejectionReason, summaryJson, summaryText } from '../render/run-summary.ts';
import { RejectedReader } from '../store/read/rejected-reader.ts';
import type { ListOutcome } from '../sync/ports.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { createLogger } from './logging.ts';
import { showProgress } from './progress.ts';
import { exitCodeAfter, runOnce } from './run-once.ts';
import { assertShareFits } from './share-after-run.ts';
import { changesWidth, summaryWidth } from './terminal-width.ts';

interface SyncFlags {
  readonly resource?: string[];
  readonly full?: boolean;
  readonly rebuild?: boolean;
  readonly acceptNewBaseUrl?: boolean;
  readonly dryRun?: boolean;
  readonly allowMassRemoval?: boolean;
  readonly json?: boolean;
}

interface PlaceFlags {
  readonly envFile?: string;
  readonly baseUrl?: string;
  readonly allowHttp?: true;
  readonly database?: string;
}

/** How many planned changes a dry run shows for people. */
const shownChangesMax = 200;

/** `docmirror sync`; its flags are in the table of commands. */
export async function sync(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<SyncFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  const service = resolveService(command.opts(), context.environment, context.inEnvFile);
  if (!flags.dryRun) await assertShareFits(config);
  const logger = createLogger(config, context.stderr.isTTY, context.secrets);
  const planned = new PlannedChanges();
  const observer = await showProgress(context, logger);
  const summary = await runOnce({
    config,
    service,
    lists: lists.filter(({ resource }) => flags.resource?.includes(resource) ?? true),
    trigger: config.trigger ?? 'manual',
    flags,
    ...(flags.dryRun && { onPlannedChange: planned.add }),
    logger,
    secrets: context.secrets,
    observer,
    signal: context.signal,
    onLocked: () => context.teller?.begun(),
  });
  const rejections = flags.dryRun ? [] : rejectionsIn(config.database, summary.resources);
  context.teller?.summary(summaryText(summary, undefined, '', rejections));
  const text = () => {
    const [width, place] = [summaryWidth(context.stdout), placeFlags(command.opts())];
    return `${planned.text(context)}${summaryText(summary, width, place, rejections)}`;
  };
  context.stdout.write(flags.json ? jsonOutput(summaryJson(summary), config.labels) : text());
  context.setExitCode(exitCodeAfter(summary, context.signal));
}

/** Why records of these lists were rejected by the run that has just ended. */
function rejectionsIn(database: string, outcomes: readonly ListOutcome[]): RejectionReason[] {
  if (outcomes.every(({ rejected }) => rejected === 0)) return [];
  using reader = new RejectedReader(database);
  return reader.counts().filter(({ isCurrent }) => isCurrent);
}

/**
 * The flags that name the settings, the service and the mirror of a command, as they are typed; empty if the environment names them.
 * Flags about a token are left out, because they can contain the token.
 */
function placeFlags({ envFile, baseUrl, allowHttp, database }: PlaceFlags): string {
  const flags = {
    '--env-file': envFile,
    '--base-url': baseUrl,
    '--allow-http': allowHttp,
    '--database': database,
  };
  return Object.entries(flags)
    .flatMap(([flag, value]) =>
      value === undefined ? [] : [value === true ? flag : `${flag} ${quoted(value)}`],
    )
    .join(' ');
}

/** A word, quoted for a shell if necessary. */
function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The changes that a dry run would make. All are counted, and the first ones are kept to be shown. */
class PlannedChanges {
  readonly #shown: ShownChange[] = [];
  #total = 0;

  readonly add = (change: ShownChange): void => {
    this.#total++;
    if (this.#shown.length < shownChangesMax) this.#shown.push(change);
  };

  text({ stdout }: CommandContext): string {
    if (this.#total === 0) return '';
    return `${changesText(this.#shown, this.#total, changesWidth(stdout))}\n`;
  }
}
