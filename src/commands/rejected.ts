import type { Command } from 'commander';
import { resolveConfig, wholeNumber } from '../config/resolve.ts';
import { rejectedJson, rejectedText } from '../render/rejected.ts';
import { RejectedReader } from '../store/read/rejected-reader.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { terminalWidth } from './terminal-width.ts';

const limitMax = 1_000_000;

/** `docmirror rejected`; its flags are in the table of commands. */
export function rejected(command: Command, { environment, stdout }: CommandContext): void {
  const flags = command.opts<{ json?: boolean; limit: string }>();
  const config = resolveConfig(command.opts(), environment);
  const limit = wholeNumber('--limit', flags.limit, 0, limitMax);
  using reader = new RejectedReader(config.database);
  const found = { counts: reader.counts(), records: reader.records(limit) };
  stdout.write(
    flags.json ? jsonOutput(rejectedJson(found), config.labels) : rejectedText(found, terminalWidth(stdout)),
  );
}
