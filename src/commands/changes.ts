import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { type ChangeFormat, changeFeed } from '../render/change-feed.ts';
import { type Change, MirrorReader } from '../store/read/mirror-reader.ts';
import type { CommandContext } from './context.ts';
import { instantOf, isForSpreadsheet, noteOnPruned, runOf } from './flag-values.ts';
import { streamOut } from './stream-out.ts';
import { changesWidth } from './terminal-width.ts';

interface ChangesFlags {
  readonly sinceRun?: string;
  readonly since?: string;
  readonly resource?: readonly string[];
  readonly format: ChangeFormat;
  readonly spreadsheet?: boolean;
}

/** `docmirror changes`; its flags stand in the table of commands. */
export async function changes(
  command: Command,
  { environment, stdout, stderr, signal }: CommandContext,
): Promise<void> {
  const flags = command.opts<ChangesFlags>();
  const config = resolveConfig(command.opts(), environment);
  using reader = new MirrorReader(config.database);
  reader.holdStill();
  const sinceRunId = lastRunLeftOut(flags, reader);
  const note = noteOnPruned(sinceRunId, reader.pruned());
  if (note !== null) stderr.write(`${note}\n`);
  const found = changesOf(reader, sinceRunId, flags.resource);
  const feed = changeFeed(found, {
    format: flags.format,
    width: changesWidth(stdout),
    forSpreadsheet: isForSpreadsheet(flags),
  });
  const textCount = await streamOut(stdout, feed, signal);
  if (textCount === 0 && flags.format === 'table') stdout.write(nothingChanged(reader, sinceRunId));
}

function lastRunLeftOut({ sinceRun, since }: ChangesFlags, { endedRuns }: MirrorReader): number {
  if (sinceRun !== undefined) return runOf('--since-run', sinceRun, endedRuns, 0);
  if (since !== undefined) return endedRuns.lastOfAllBy(instantOf('--since', since));
  return Math.max(0, (endedRuns.newest() ?? 0) - 1);
}

function changesOf(
  reader: MirrorReader,
  sinceRunId: number,
  resources: readonly string[] | undefined,
): Iterable<Change> {
  const resource = resources?.length === 1 ? (resources[0] as string) : null;
  const found = reader.changes({ sinceRunId, resource });
  return found.filter(change => resources?.includes(change.resource) ?? true);
}

function nothingChanged({ endedRuns }: MirrorReader, sinceRunId: number): string {
  const newest = endedRuns.newest();
  if (newest === null) return 'No run has ended yet. Make one with "docmirror sync".\n';
  if (newest <= sinceRunId) return `No run has ended since run ${sinceRunId}.\n`;
  return newest === sinceRunId + 1
    ? `Run ${newest} changed nothing.\n`
    : `Nothing changed since run ${sinceRunId}.\n`;
}
