import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSmallFile } from '../config/small-file.ts';
import { DocmirrorError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { changeFormats, changePieces } from '../render/changes.ts';
import { type MirrorFile, openForReading } from '../store/file/open.ts';
import { replaceable, writeWhole } from '../store/file/whole-file.ts';
import { type ChangeKey, cursorAt, cursorText, lossOf, readCursor } from '../store/read/change-cursor.ts';
import { changesThatFit, EndedRuns } from '../store/read/change-list.ts';
import { readPruned } from '../store/receipts/statements.ts';
import { command } from './command.ts';
import { choice, conflicting, defaulting, moment, resourceFlag, run, text, type ValuesOf } from './flags.ts';
import { changesWidth, widthOf } from './io.ts';
import { deliver, outFlag, Tally } from './stream-out.ts';

const flags = {
  sinceRun: conflicting(run('changes of later runs than this one', 0), '--since'),
  since: moment(
    'changes of runs that ended after this date or time (UTC if it has no zone; a date without a time means midnight UTC), or in the last 24h, 7d and so on',
  ),
  untilRun: run('no changes of later runs than this one'),
  cursor: conflicting(
    text('FILE', 'changes after the cursor in this file; --since-run overrides it, to resume'),
    '--since',
    '--resource',
  ),
  next: text('FILE', 'with --cursor: write the cursor for the next time to this file'),
  from: choice(['first', 'now'], 'WHERE', 'with --cursor: where to begin if the file does not exist yet'),
  resource: resourceFlag,
  format: defaulting(choice(changeFormats, 'FORMAT', 'how to print them'), 'table'),
  out: outFlag,
};

type Given = ValuesOf<typeof flags>;

/** `docmirror changes` */
export const changes = command({
  flags,
  examples: {
    'docmirror changes': 'the changes of the last run',
    'docmirror changes --since 24h --resource webhooks --format xlsx --out day.xlsx':
      'one list, the last 24 hours, for a spreadsheet',
    'docmirror changes --cursor c --next n --format ndjson > batch && mv n c':
      'each change once: what is new since the last time; process the batch before the mv',
  },
  notes: [
    '--since-run 0 prints everything from the beginning. CSV and XLSX have two columns for each field, before and after; NDJSON and Parquet have whole records.',
    'A cursor says which changes were delivered. When all changes are printed, docmirror writes the file that --next names. Move it to the one that --cursor names when you have processed them. Without a cursor, docmirror begins at the first run.',
  ],
  exitCodes: '4 the mirror can not say what came after the cursor (cursor_lost); nothing was printed.',
  async run(given, context) {
    const { config, stdout, stderr } = context;
    const { format, out } = given;
    assertFlagsFit(given);
    using mirror = openForReading(config.database);
    const { sqlite } = mirror;
    sqlite.exec('BEGIN');
    const range = rangeOf(given, sqlite);
    const { before, throughRunId } = readPruned(sqlite);
    if (range.sinceRunId < throughRunId)
      stderr.write(
        `Versions that ended before ${before} were deleted (DOCMIRROR_KEEP_HISTORY), so what the runs up to ${throughRunId} updated and removed is not all there. After run ${throughRunId} nothing is missing.\n`,
      );
    const rows = new Tally();
    const wanted = new Set<string>(given.resource);
    const found = changesThatFit(sqlite, range).filter(({ resource }) => wanted.has(resource));
    const width = out === null ? changesWidth(widthOf(stdout)) : Number.POSITIVE_INFINITY;
    const pieces = await changePieces(rows.of(found), format, width, given.resource);
    const said = function* () {
      yield* pieces;
      if (rows.count === 0 && format === 'table' && out === null) {
        const { sinceRunId: since, untilRunId: until } = range;
        yield until === 0
          ? 'No run has ended yet. Make one with "docmirror sync".\n'
          : `Nothing changed from run ${since} to run ${until}.\n`;
      }
    };
    const isTaken = await deliver(said(), rows, given, context);
    if (given.next === null) return;
    // A cursor says that all before it was delivered.
    if (!isTaken)
      throw new DocmirrorError(
        'output_failed',
        'Standard output was closed before all changes were written, so --next was not written.',
      );
    const { sinceRunId, untilRunId, after } = range;
    const next = untilRunId > sinceRunId ? cursorAt(sqlite, untilRunId) : cursorAt(sqlite, sinceRunId, after);
    writeWhole(given.next, cursorText(next));
  },
});

/** Refuses flags that say nothing without a cursor, and files that would be lost. */
function assertFlagsFit({ cursor, next, from }: Given): void {
  if (cursor === null && (next ?? from) !== null) throw new UsageError('--next and --from go with --cursor.');
  if (next === null) return;
  replaceable(next);
  if (resolve(next) === resolve(cursor ?? ''))
    throw new UsageError(
      '--next: name another file than --cursor, and move it there when you have processed the changes.',
    );
}

/** Which changes are asked for: those of later runs than `sinceRunId`, after a change if `after` is not null. */
function rangeOf({ cursor, sinceRun, since, untilRun, from }: Given, sqlite: MirrorFile['sqlite']) {
  const runs = new EndedRuns(sqlite);
  const newest = runs.newest() ?? 0;
  assertEnded('--until-run', untilRun, runs);
  assertEnded('--since-run', sinceRun, runs);
  const untilRunId = untilRun ?? newest;
  let [sinceRunId, after]: [number, ChangeKey | null] = [Math.max(0, untilRunId - 1), null];
  if (sinceRun !== null) sinceRunId = sinceRun;
  else if (since !== null) sinceRunId = runs.lastOfAllBy(since);
  else if (cursor !== null && existsSync(cursor)) ({ runId: sinceRunId, after } = followed(cursor, sqlite));
  else if (cursor !== null) sinceRunId = from === 'now' ? newest : 0;
  return { sinceRunId, untilRunId, after };
}

function followed(path: string, sqlite: MirrorFile['sqlite']) {
  const cursor = readCursor(readSmallFile('--cursor: ', path));
  if (cursor === null)
    throw new UsageError(`--cursor: ${path} is not a cursor of docmirror. Name the file that --next wrote.`);
  const loss = lossOf(sqlite, cursor);
  if (loss === null) return cursor;
  throw new DocmirrorError(
    'cursor_lost',
    `The cursor in ${printable(path)} ${loss.why}. The newest run that both share is ${loss.sharedRunId}. Remove what you took from later runs, and go on with --since-run ${loss.sharedRunId}. Nothing was written.`,
  );
}

/** @throws UsageError if a flag names a run that has not ended. 0 is the time before the first run. */
export function assertEnded(flag: string, runId: number | null, runs: EndedRuns): void {
  if (!runId || runs.has(runId)) return;
  throw new UsageError(
    `${flag}: there is no run ${runId}; the newest that has ended is ${runs.newest()}. "docmirror runs" lists them.`,
  );
}
