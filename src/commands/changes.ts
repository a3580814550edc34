import type { Writable } from 'node:stream';
import { DocmirrorError } from '../errors.ts';
import { changeFeed, changeFormats } from '../render/change-feed.ts';
import { type Change, MirrorReader } from '../store/read/mirror-reader.ts';
import {
  assertCursorFlags,
  type ChangeRange,
  noteOnPruned,
  rangeOfCursor,
  runOf,
  untilRunOf,
  writeNext,
} from './change-cursor.ts';
import { command } from './command.ts';
import { choice, defaulting, moment, text, type ValuesOf } from './flags.ts';
import { assertForCsv, cursorFlags, mirrorSettings, resourceFlag, spreadsheetFlag } from './shared-flags.ts';
import { streamOut } from './stream-out.ts';
import { changesWidth, widthOf } from './widths.ts';

const flags = {
  sinceRun: text('N', 'changes of later runs than this one', { conflicts: ['--since'] }),
  since: moment(
    'changes of runs that ended after this date or time (UTC if it has no zone; a date without a time means midnight UTC), or in the last 24h, 7d and so on',
  ),
  untilRun: text('N', 'no changes of later runs than this one'),
  ...cursorFlags,
  resource: resourceFlag,
  format: defaulting(choice(changeFormats, 'FORMAT', 'how to print them'), 'table'),
  spreadsheet: spreadsheetFlag,
};

/** `docmirror changes` */
export const changes = command({
  flags,
  settings: mirrorSettings,
  examples: [
    { line: 'docmirror changes', meaning: 'the changes of the last run' },
    {
      line: 'docmirror changes --since-run 1 --format ndjson',
      meaning: 'all changes of later runs, for a program',
    },
    {
      line: 'docmirror changes --since 24h --resource webhooks --format csv',
      meaning: 'one list, the last 24 hours, one column a field',
    },
    {
      line: 'docmirror changes --cursor c --next n --format ndjson > batch && mv n c',
      meaning: 'each change once: what is new since the last time; process the batch before the mv',
    },
  ],
  notes: [
    'Only runs that have ended count. --since-run 0 prints everything from the beginning.',
    'A cursor says which changes were delivered. docmirror reads the file that --cursor names. When all changes are printed, it writes the file that --next names. Move that one to the other when you have processed the changes. If there is no cursor yet, docmirror begins at the first run.',
  ],
  exitCodes: '4 the mirror can not say what came after the cursor (cursor_lost); nothing was printed.',
  async run(given, { config, stdout, stderr }) {
    assertCursorFlags(given);
    assertForCsv(given);
    using reader = new MirrorReader(config.database);
    reader.holdStill();
    const range = given.cursor === null ? rangeOf(given, reader) : await rangeOfCursor(given, reader);
    const note = noteOnPruned(range.sinceRunId, reader.pruned());
    if (note !== null) stderr.write(`${note}\n`);
    const feed = changeFeed(changesOf(reader, range, given.resource), {
      format: given.format,
      width: changesWidth(widthOf(stdout)),
      forSpreadsheet: given.spreadsheet,
      resources: given.resource ?? undefined,
    });
    const { pieceCount, isTaken } = await streamOut(stdout, feed);
    if (pieceCount === 0 && given.format === 'table') stdout.write(nothingChanged(reader, range));
    if (given.next === null) return;
    await assertTaken(stdout, isTaken);
    writeNext(given, reader, range);
  },
});

type Given = ValuesOf<typeof flags>;

function rangeOf(given: Given, reader: MirrorReader): ChangeRange {
  const { endedRuns } = reader;
  const untilRunId = untilRunOf(given, reader) ?? endedRuns.newest() ?? 0;
  return { sinceRunId: lastRunLeftOut(given, reader, untilRunId), untilRunId, after: null };
}

function lastRunLeftOut({ sinceRun, since }: Given, { endedRuns }: MirrorReader, untilRunId: number): number {
  if (sinceRun !== null) return runOf('--since-run', sinceRun, endedRuns, 0);
  if (since !== null) return endedRuns.lastOfAllBy(since);
  return Math.max(0, untilRunId - 1);
}

function changesOf(
  reader: MirrorReader,
  range: ChangeRange,
  resources: readonly string[] | null,
): Iterable<Change> {
  const resource = resources?.length === 1 ? (resources[0] as string) : null;
  const found = reader.changes({ ...range, resource });
  return found.filter(change => resources?.includes(change.resource) ?? true);
}

/** A cursor says that all before it was delivered: it must not, if the output is lost. */
async function assertTaken(stdout: Writable, isTaken: boolean): Promise<void> {
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
