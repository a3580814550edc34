import { accessSync, constants } from 'node:fs';
import { TimeSlice } from '../../time-slice.ts';
import { assertFree } from '../file/lock-file.ts';
import { assertNoMount } from '../file/lock-trial.ts';
import { isYetToMake, mirrorToWrite, openMirrorForReading } from '../file/open.ts';
import { assertWhole, explaining } from '../file/sqlite-errors.ts';
import { assertAsWritten } from '../receipts/altered-lists.ts';
import { unreadableTimes } from '../tables/unreadable-times.ts';
import { assertNothingIntrusive } from './objects.ts';

/** Checks a mirror as a run does, without its lock, and returns which times in it can't be read; undefined if there is none yet. Throws what a run would end with, or `upgrade_needed`. */
export async function checkMirror(path: string, signal: AbortSignal) {
  const place = mirrorToWrite(path);
  assertNoMount(place);
  assertFree(place);
  if (isYetToMake(place)) return undefined;
  explaining(place, () => accessSync(place, constants.R_OK | constants.W_OK));
  using file = openMirrorForReading(place);
  const { sqlite } = file;
  // One state of the file, with a run that died or that has just begun.
  sqlite.exec('BEGIN');
  const open = sqlite.prepare<[], number>(
    'SELECT id FROM sync_runs WHERE id NOT IN (SELECT run_id FROM sync_receipts WHERE run_id IS NOT NULL)',
  );
  const openRuns = open.pluck().all();
  assertWhole(place, sqlite);
  assertNothingIntrusive(file);
  await assertAsWritten(file, new TimeSlice(signal), openRuns);
  return unreadableTimes(sqlite, 'document-exports');
}
