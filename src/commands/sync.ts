import { type Command, InvalidArgumentError, Option } from 'commander';
import { resolveConfig, resolveService } from '../config/resolve.ts';
import { lists, resourceNames } from '../contract/lists.ts';
import { changesText, type ShownChange } from '../render/changes.ts';
import { summaryJson, summaryText } from '../render/run-summary.ts';
import { exitCodeOf } from '../sync/run.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags, runFlags } from './flags.ts';
import { createLogger } from './logging.ts';
import { showProgress } from './progress.ts';
import { runOnce } from './run-once.ts';

interface SyncFlags {
  readonly resource?: string[];
  readonly full?: boolean;
  readonly acceptNewBaseUrl?: boolean;
  readonly dryRun?: boolean;
  readonly allowMassRemoval?: boolean;
  readonly json?: boolean;
}

/** How many planned changes a dry run shows for people. */
const shownChangesMax = 200;
const widthWithoutTerminal = 120;

const examples = `
Examples:
  $ docmirror sync                              all three lists
  $ docmirror sync --resource webhooks --full   one list, in full
  $ docmirror sync --dry-run                    what would change
  $ docmirror sync --json | jq .status          for scripts

Exit codes: 0 done, 1 failed, 2 usage, 3 partial, 11 another run holds the mirror,
12 the service refused the token, 130 and 143 ended by a signal.`;

/** Registers `sync`: one run over the lists. */
export const registerSync: CommandRegistration = (program, context) => {
  const command = program
    .command('sync')
    .description('Walk the lists of the service and bring the mirror up to date: one run.')
    .addOption(
      new Option(
        '--resource <NAME>',
        `only this list; repeat it for more (${resourceNames.join(', ')})`,
      ).argParser((name: string, names: string[] | undefined) => [...(names ?? []), checked(name)]),
    )
    .option('--full', 'walk the lists in full, also where an incremental sync would do')
    .option('--prove', 'accepted as before: every full sweep proves what it found now')
    .option('--dry-run', 'walk and compare, change nothing, and print what would change')
    .option('--allow-mass-removal', 'remove records even where they are more than --max-removals allows')
    .option(
      '--accept-new-base-url',
      'go on where the mirror is of another base address: the service has moved',
    )
    .option('--json', "print the run's summary as one JSON object")
    .addHelpText('after', examples);
  addSettingFlags(command, [...runFlags, ...mirrorFlags]).action(() => sync(command, context));
};

async function sync(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<SyncFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  const service = resolveService(command.opts(), context.environment);
  const logger = await createLogger(config.logLevel, context.stderr.isTTY, context.secrets);
  const planned = new PlannedChanges();
  const observer = await showProgress(context, logger);
  const summary = await runOnce({
    config,
    service,
    lists:
      flags.resource === undefined
        ? lists
        : lists.filter(({ resource }) => flags.resource?.includes(resource)),
    trigger: 'manual',
    allowMassRemoval: flags.allowMassRemoval ?? false,
    acceptsNewBaseUrl: flags.acceptNewBaseUrl ?? false,
    isFull: flags.full ?? false,
    ...(flags.dryRun && { onPlannedChange: planned.add }),
    logger,
    secrets: context.secrets,
    observer,
    signal: context.signal,
  }).finally(() => observer.close());
  context.stdout.write(flags.json ? summaryJson(summary) : `${planned.text(context)}${summaryText(summary)}`);
  context.setExitCode(exitCodeOf(summary, context.signal));
}

function checked(name: string): string {
  if (!(resourceNames as readonly string[]).includes(name)) {
    throw new InvalidArgumentError(`Expected one of ${resourceNames.join(', ')}.`);
  }
  return name;
}

/** The changes that a dry run would make: all counted, the first ones kept to be shown. */
class PlannedChanges {
  readonly #shown: ShownChange[] = [];
  #total = 0;

  readonly add = (change: ShownChange): void => {
    this.#total++;
    if (this.#shown.length < shownChangesMax) this.#shown.push(change);
  };

  text({ stdout }: CommandContext): string {
    if (this.#total === 0) return '';
    return `${changesText(this.#shown, this.#total, stdout.columns ?? widthWithoutTerminal)}\n`;
  }
}
