import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSmallFile } from '../config/small-file.ts';
import { DocmirrorError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { changeFormats, changePieces } from '../render/changes.ts';
import { openForReading } from '../store/file/open.ts';
import { replaceable, writeWhole } from '../store/file/whole-file.ts';
import { EndedRuns } from '../store/read/history/changes.ts';
import { CursorLost, feed, positionText, readPosition } from '../store/read/history/feed.ts';
import { furtherNames } from '../store/read/records/table.ts';
import type { Sqlite } from '../store/read/sqlite.ts';
import { readPruned } from '../store/receipts/statements.ts';
import { command } from './command.ts';
import { conflicting, defaulting, keptFlag, moment, option, runNo, typed, type ValuesOf } from './flags.ts';
import { changesWidth, widthOf } from './io.ts';
import { deliver, outFlag, Tally } from './stream-out.ts';

const flags = {
  sinceRun: conflicting(runNo(0), '--since'),
  since: moment(),
  untilRun: runNo(),
  cursor: conflicting(typed('FILE'), '--since', '--resource'),
  next: typed('FILE'),
  from: option(['first', 'now'], 'WHERE'),
  resource: keptFlag,
  format: defaulting(option(changeFormats, 'FORMAT'), 'table'),
  out: outFlag,
};

type Given = ValuesOf<typeof flags>;

export default command({
  flags,
  async run(given, context) {
    const { config, stdout, stderr } = context;
    const { format, out, cursor, next: nextFile } = given;
    if (cursor === null && (nextFile ?? given.from) !== null)
      throw new UsageError('--next and --from go with --cursor.');
    if (nextFile !== null) replaceable(nextFile);
    if (nextFile !== null && resolve(nextFile) === resolve(cursor ?? ''))
      throw new UsageError(
        '--next: name another file than --cursor, and move it there when you have processed the changes.',
      );
    using mirror = openForReading(config.database);
    const { sqlite } = mirror;
    sqlite.exec('BEGIN');
    const { sinceRunId, untilRunId, changes, next } = rangeOf(given, sqlite);
    const { before, throughRunId } = readPruned(sqlite);
    if (sinceRunId < throughRunId)
      stderr.write(
        `Versions that ended before ${before} were deleted (DOCMIRROR_KEEP_HISTORY), so what the runs up to ${throughRunId} updated and removed is not all there. After run ${throughRunId} nothing is missing.\n`,
      );
    const rows = new Tally();
    const wanted = new Set<string>(given.resource);
    const found = changes.filter(({ resource }) => wanted.has(resource));
    const width = out === null ? changesWidth(widthOf(stdout)) : Number.POSITIVE_INFINITY;
    const further = furtherNames(sqlite, given.resource);
    const pieces = await changePieces(rows.of(found), format, width, given.resource, further);
    const said = function* () {
      yield* pieces;
      if (rows.count === 0 && format === 'table' && out === null)
        yield untilRunId === 0
          ? 'No run has ended yet. Make one with "docmirror sync".\n'
          : `Nothing changed from run ${sinceRunId} to run ${untilRunId}.\n`;
    };
    const isTaken = await deliver(said(), rows, given, context);
    if (nextFile === null) return;
    // A cursor says that all before it was delivered.
    const closed = 'Standard output was closed before all changes were written, so --next was not written.';
    if (!isTaken) throw new DocmirrorError('output_failed', closed);
    writeWhole(nextFile, positionText(sqlite, next));
  },
});

function rangeOf({ cursor, sinceRun, since, untilRun, from }: Given, sqlite: Sqlite) {
  const runs = new EndedRuns(sqlite);
  const newest = runs.newest() ?? 0;
  assertEnded('--until-run', untilRun, runs);
  assertEnded('--since-run', sinceRun, runs);
  const untilRunId = untilRun ?? newest;
  const changes = feed(sqlite);
  let opened = changes.since(sinceRun ?? Math.max(0, untilRunId - 1));
  if (sinceRun === null && since !== null) opened = changes.since(runs.lastOfAllBy(since));
  else if (sinceRun === null && cursor !== null)
    opened = existsSync(cursor) ? followed(cursor, changes) : changes.since(from === 'now' ? newest : 0);
  return { ...opened.through(untilRunId), untilRunId };
}

function followed(path: string, changes: ReturnType<typeof feed>) {
  const position = readPosition(readSmallFile('--cursor: ', path));
  if (position === null)
    throw new UsageError(`--cursor: ${path} is not a cursor of docmirror. Name the file that --next wrote.`);
  try {
    return changes.from(position);
  } catch (error) {
    if (!(error instanceof CursorLost)) throw error;
    const { why, sharedRunId } = error.loss;
    const lost = `The cursor in ${printable(path)} ${why}. The newest run that both share is ${sharedRunId}.`;
    const todo = `Remove what you took from later runs, and go on with --since-run ${sharedRunId}.`;
    throw new DocmirrorError('cursor_lost', `${lost} ${todo} Nothing was written.`);
  }
}

/** @throws UsageError if a flag names a run that has not ended. 0 is the time before the first run. */
export function assertEnded(flag: string, runId: number | null, runs: EndedRuns): void {
  if (!runId || runs.has(runId)) return;
  const known = `the newest that has ended is ${runs.newest()}. "docmirror runs" lists them.`;
  throw new UsageError(`${flag}: there is no run ${runId}; ${known}`);
}
