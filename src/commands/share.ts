import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import { makeShare, type Share } from '../store/share/share.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { readShareSql } from './share-after-run.ts';

interface ShareFlags {
  readonly without?: readonly string[];
  readonly withoutHistory?: boolean;
  readonly sql?: string;
  readonly json?: boolean;
}

/** `docmirror share`; its flags are in the table of commands. */
export async function share(
  command: Command,
  { environment, stdout, signal }: CommandContext,
): Promise<void> {
  const flags = command.opts<ShareFlags>();
  const config = resolveConfig(command.opts(), environment);
  const [target = config.share] = command.args;
  if (target === null)
    throw new UsageError('Name the file to write, or set DOCMIRROR_SHARE: docmirror share FILE');
  const sql =
    flags.sql === undefined
      ? await readShareSql('DOCMIRROR_SHARE_SQL', config.shareSql)
      : await readShareSql('--sql', flags.sql);
  const made = await makeShare({
    database: config.database,
    target,
    name: 'FILE',
    without: flags.without ?? [],
    withHistory: flags.withoutHistory !== true,
    sql,
    signal,
  });
  stdout.write(flags.json ? jsonOutput(`${JSON.stringify(made)}\n`, config.labels) : textOf(made));
}

function textOf({ path, runId, bytes, leftOut }: Share): string {
  const state = runId === null ? 'no run has ended yet' : `the mirror as of run ${runId}`;
  const lines = [
    `${path}: ${state}, ${bytesText(bytes)}.`,
    ...leftOut.map(view => `The view ${view} was left out: it can't be read without what the share lacks.`),
  ];
  return lines.map(line => `${printable(line)}\n`).join('');
}
