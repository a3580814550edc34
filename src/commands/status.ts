import type { Command } from 'commander';
import { durationMs, resolveConfig } from '../config/resolve.ts';
import { exitCodes } from '../errors.ts';
import { isInFuture, statusJson, statusText } from '../render/run-list.ts';
import { MirrorReader } from '../store/read/mirror-reader.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags } from './flags.ts';
import { readWatchNote } from './watch-note.ts';

/** Registers `status`: how fresh and how sure each list is. */
export const registerStatus: CommandRegistration = (program, context) => {
  const command = program
    .command('status')
    .description('Show how fresh each list is, its last run, its record count and how complete it is.')
    .option('--json', 'print it as one JSON object')
    .option(
      '--max-age <TIME>',
      'exit 4 where a list has had no completed run for longer, such as 26h, or its end lies in the future',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ docmirror status\n  $ docmirror status --max-age 26h   a health check',
    );
  addSettingFlags(command, mirrorFlags).action(() => status(command, context));
};

function status(command: Command, { environment, stdout, setExitCode }: CommandContext): void {
  const flags = command.opts<{ json?: boolean; maxAge?: string }>();
  const config = resolveConfig(command.opts(), environment);
  const maxAgeMs =
    flags.maxAge === undefined ? Number.POSITIVE_INFINITY : durationMs('--max-age', flags.maxAge);
  const reader = MirrorReader.open(config.database);
  try {
    const lists = reader.status();
    const nowMs = Date.now();
    const watch = readWatchNote(config.database);
    stdout.write(flags.json ? statusJson(lists, nowMs, watch) : statusText(lists, nowMs, watch));
    const isFresh = lists.every(
      ({ lastCompletedAt }) =>
        ageMs(lastCompletedAt, nowMs) <= maxAgeMs && !isInFuture(lastCompletedAt, nowMs),
    );
    if (flags.maxAge !== undefined && !isFresh) setExitCode(exitCodes.difference);
  } finally {
    reader.close();
  }
}

function ageMs(completedAt: string | null, nowMs: number): number {
  return completedAt === null ? Number.POSITIVE_INFINITY : nowMs - Date.parse(completedAt);
}
