import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { NextRun } from '../render/status.ts';
import { writeWhole } from '../store/file/atomic-file.ts';
import { fileBehind } from '../store/file/mirror-path.ts';

/** @throws UsageError if no mirror can be at the path. */
function watchNotePath(database: string): string {
  return `${fileBehind(database)}.watch`;
}

/**
 * Writes the note of a running watch next to the mirror, in one step, so that `status` can show when the next run is due. The note is
 * only a hint: if it can't be written, or another file is there, the watch goes on.
 */
export function writeWatchNote(database: string, note: NextRun): void {
  try {
    const path = watchNotePath(database);
    if (!existsSync(path) || readWatchNote(database) !== null) writeWhole(path, `${JSON.stringify(note)}\n`);
  } catch {
    removeWatchNote(database);
  }
}

/** Removes the note, and no other file. */
export function removeWatchNote(database: string): void {
  try {
    if (readWatchNote(database) !== null) rmSync(watchNotePath(database), { force: true });
  } catch {
    // A folder that can't be written has no note either.
  }
}

/** The note of the watch that keeps this mirror; null if there is none, or its note can't be read. */
export function readWatchNote(database: string): NextRun | null {
  try {
    const note: unknown = JSON.parse(readFileSync(watchNotePath(database), 'utf8'));
    return isNote(note) ? note : null;
  } catch {
    return null;
  }
}

function isNote(value: unknown): value is NextRun {
  if (typeof value !== 'object' || value === null) return false;
  const { schedule, timezone, nextRunAt } = value as Record<string, unknown>;
  const areTexts = [schedule, timezone, nextRunAt].every(text => typeof text === 'string');
  return areTexts && !Number.isNaN(Date.parse(nextRunAt as string));
}
