import type { Command } from 'commander';
import { resolveConfig, wholeNumber } from '../config/resolve.ts';
import { printableJson } from '../printable.ts';
import { runsJson, runsText } from '../render/run-list.ts';
import { RunReader } from '../store/read/run-reader.ts';
import type { CommandContext } from './context.ts';
import { terminalWidth } from './terminal-width.ts';

const limitMax = 1_000_000;

/** `docmirror runs`; its flags are in the table of commands. */
export function runs(command: Command, { environment, stdout }: CommandContext): void {
  const flags = command.opts<{ json?: boolean; limit: string }>();
  const config = resolveConfig(command.opts(), environment);
  const limit = wholeNumber('--limit', flags.limit, 1, limitMax);
  using reader = new RunReader(config.database);
  const history = reader.runs(limit);
  stdout.write(flags.json ? printableJson(runsJson(history)) : runsText(history, terminalWidth(stdout)));
}
