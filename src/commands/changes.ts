import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { DocmirrorError } from '../errors.ts';
import { type ChangeFormat, changeFeed } from '../render/change-feed.ts';
import { type Change, MirrorReader } from '../store/read/mirror-reader.ts';
import {
  assertCursorFlags,
  type ChangeRange,
  type CursorFlags,
  rangeOfCursor,
  untilRunOf,
  writeNext,
} from './change-cursor.ts';
import type { CommandContext } from './context.ts';
import { isForSpreadsheet, momentOf, noteOnPruned, runOf } from './flag-values.ts';
import { streamOut } from './stream-out.ts';
import { changesWidth } from './terminal-width.ts';

interface ChangesFlags extends CursorFlags {
  readonly since?: string;
  readonly resource?: readonly string[];
  readonly format: ChangeFormat;
  readonly spreadsheet?: boolean;
}

/** `docmirror changes`; its flags are in the table of commands. */
export async function changes(
  command: Command,
  { environment, stdout, stderr, signal }: CommandContext,
): Promise<void> {
  const flags = command.opts<ChangesFlags>();
  const config = resolveConfig(command.opts(), environment);
  assertCursorFlags(flags);
  using reader = new MirrorReader(config.database);
  reader.holdStill();
  const range = flags.cursor === undefined ? rangeOf(flags, reader) : await rangeOfCursor(flags, reader);
  const note = noteOnPruned(range.sinceRunId, reader.pruned());
  if (note !== null) stderr.write(`${note}\n`);
  const feed = changeFeed(changesOf(reader, range, flags.resource), {
    format: flags.format,
    width: changesWidth(stdout),
    forSpreadsheet: isForSpreadsheet(flags),
    resources: flags.resource,
  });
  const { textCount, isTaken } = await streamOut(stdout, feed, signal);
  if (textCount === 0 && flags.format === 'table') stdout.write(nothingChanged(reader, range));
  if (flags.next === undefined) return;
  await assertTaken(stdout, isTaken);
  writeNext(flags, reader, range);
}

function rangeOf(flags: ChangesFlags, reader: MirrorReader): ChangeRange {
  const { endedRuns } = reader;
  const untilRunId = untilRunOf(flags, reader) ?? endedRuns.newest() ?? 0;
  return { sinceRunId: lastRunLeftOut(flags, reader, untilRunId), untilRunId, after: null };
}

function lastRunLeftOut(
  { sinceRun, since }: ChangesFlags,
  { endedRuns }: MirrorReader,
  untilRunId: number,
): number {
  if (sinceRun !== undefined) return runOf('--since-run', sinceRun, endedRuns, 0);
  if (since !== undefined) return endedRuns.lastOfAllBy(momentOf('--since', since, Date.now()));
  return Math.max(0, untilRunId - 1);
}

function changesOf(
  reader: MirrorReader,
  range: ChangeRange,
  resources: readonly string[] | undefined,
): Iterable<Change> {
  const resource = resources?.length === 1 ? (resources[0] as string) : null;
  const found = reader.changes({ ...range, resource });
  return found.filter(change => resources?.includes(change.resource) ?? true);
}

/** A cursor says that all before it was delivered: it must not, if the output is lost. */
async function assertTaken(stdout: NodeJS.WriteStream, isTaken: boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  stdout.write('', resolve);
  if ((await promise) instanceof Error || !isTaken)
    throw new DocmirrorError(
      'output_failed',
      'Standard output was closed before all changes were written, so --next was not written.',
    );
}

function nothingChanged({ endedRuns }: MirrorReader, { sinceRunId, untilRunId }: ChangeRange): string {
  const newest = endedRuns.newest();
  if (newest === null) return 'No run has ended yet. Make one with "docmirror sync".\n';
  if (newest <= sinceRunId) return `No run has ended since run ${sinceRunId}.\n`;
  if (untilRunId === sinceRunId + 1) return `Run ${untilRunId} changed nothing.\n`;
  const until = untilRunId === newest ? '' : ` up to run ${untilRunId}`;
  return `Nothing changed since run ${sinceRunId}${until}.\n`;
}
