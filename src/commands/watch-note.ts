import { readFileSync, rmSync } from 'node:fs';
import type { NextRun } from '../render/status.ts';
import { writeWhole } from '../store/file/atomic-file.ts';

/** The note of a watch, beside its mirror. It is only a hint for `status`: if it can't be written or read, all goes on without it. */
export function writeWatchNote(database: string, note: NextRun): void {
  try {
    writeWhole(`${database}.watch`, `${JSON.stringify(note)}\n`);
  } catch {
    // Then status shows no next run.
  }
}

/** Removes the note. */
export function removeWatchNote(database: string): void {
  rmSync(`${database}.watch`, { force: true });
}

/** The note of the watch that keeps this mirror; null if there is none. */
export function readWatchNote(database: string): NextRun | null {
  try {
    const note = JSON.parse(readFileSync(`${database}.watch`, 'utf8')) as NextRun;
    return Number.isNaN(Date.parse(note.nextRunAt)) ? null : note;
  } catch {
    return null;
  }
}
