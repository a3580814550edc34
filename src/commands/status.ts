import type { Command } from 'commander';
import { durationMs, resolveConfig } from '../config/resolve.ts';
import { exitCodes } from '../errors.ts';
import { isFresh } from '../freshness.ts';
import { statusJson, statusText } from '../render/status.ts';
import { RunReader } from '../store/read/run-reader.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { terminalWidth } from './terminal-width.ts';
import { readWatchNote } from './watch-note.ts';

/** `docmirror status`; its flags stand in the table of commands. */
export function status(command: Command, { environment, stdout, setExitCode }: CommandContext): void {
  const flags = command.opts<{ json?: boolean; maxAge?: string }>();
  const config = resolveConfig(command.opts(), environment);
  const maxAge =
    flags.maxAge === undefined ? null : { text: flags.maxAge, ms: durationMs('--max-age', flags.maxAge) };
  using reader = new RunReader(config.database);
  const lists = reader.status();
  const nowMs = Date.now();
  const watch = readWatchNote(config.database);
  stdout.write(
    flags.json
      ? jsonOutput(statusJson(lists, nowMs, watch), config.labels)
      : statusText(lists, nowMs, { watch, maxAge, width: terminalWidth(stdout) }),
  );
  const isTooOld =
    maxAge !== null && !lists.every(({ lastCompletedAt }) => isFresh(lastCompletedAt, nowMs, maxAge.ms));
  if (isTooOld) setExitCode(exitCodes.difference);
}
