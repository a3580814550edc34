import type { Command } from 'commander';
import { resolveConfig, wholeNumber } from '../config/resolve.ts';
import { runsJson, runsText } from '../render/run-list.ts';
import { MirrorReader } from '../store/read/mirror-reader.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags } from './flags.ts';

const limitMax = 1_000_000;

/** Registers `runs`: the run history, newest first. */
export const registerRuns: CommandRegistration = (program, context) => {
  const command = program
    .command('runs')
    .description('Show the run history, the newest run first.')
    .option('--limit <N>', 'how many runs', '20')
    .option('--json', 'print it as one JSON array, with how each list ended')
    .addHelpText('after', '\nExamples:\n  $ docmirror runs\n  $ docmirror runs --limit 1 --json');
  addSettingFlags(command, mirrorFlags).action(() => runs(command, context));
};

function runs(command: Command, { environment, stdout }: CommandContext): void {
  const flags = command.opts<{ json?: boolean; limit: string }>();
  const config = resolveConfig(command.opts(), environment);
  const limit = wholeNumber('--limit', flags.limit, 1, limitMax);
  const reader = MirrorReader.open(config.database);
  try {
    const history = reader.runs(limit);
    stdout.write(flags.json ? runsJson(history) : runsText(history));
  } finally {
    reader.close();
  }
}
